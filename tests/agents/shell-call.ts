import type { ScriptedCall, ScriptedReply } from "./scripted-model.ts";

/** Names under which agents offer a shell to the model. */
const SHELLS = [
  "bash",
  "Bash",
  "exec_command",
  "shell_command",
  "shell",
  "run_shell_command",
  "terminal",
  "execute_bash",
];

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
  readonly required?: readonly string[];
}

interface Tool {
  readonly name: string;
  readonly schema: Schema;
}

/** The reply that runs a command with whatever shell the agent offers; null when it offers none in this call. */
export function shellCall({ body }: ScriptedCall, command: string): ScriptedReply | null {
  const tools = toolsOf(body["tools"]);
  const name = SHELLS.find((shell) => tools.some((tool) => tool.name === shell));
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) return null;
  const { properties = {}, required = [] } = tool.schema;
  const needed = new Set([...required, ...Object.keys(properties).filter((key) => key === "command" || key === "cmd")]);
  const args = Object.fromEntries([...needed].map((key) => [key, argument(key, properties[key]?.type, command)]));
  return { tools: [{ name: tool.name, args }] };
}

function toolsOf(offered: unknown): readonly Tool[] {
  const list = Array.isArray(offered) ? (offered as Record<string, unknown>[]) : [];
  return list.map((tool) => {
    const inner = (tool["function"] ?? tool) as Record<string, unknown>;
    const schema: Schema = inner["parameters"] ?? inner["input_schema"] ?? {};
    return { name: String(inner["name"]), schema };
  });
}

function argument(key: string, type: string | undefined, command: string): unknown {
  if (key === "command" || key === "cmd") return type === "array" ? ["/bin/bash", "-lc", command] : command;
  if (type === "boolean") return false;
  return type === "number" || type === "integer" ? 60_000 : "LOW";
}
