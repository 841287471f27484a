import { z } from "zod";

/** Version of the Agent Trajectory Interchange Format that is written and read. */
export const ATIF_VERSION = "ATIF-v1.7";

const extra = z.record(z.string(), z.unknown()).optional();
const tokens = z.int().min(0).optional();

const ToolCall = z.strictObject({
  tool_call_id: z.string().min(1),
  function_name: z.string().min(1),
  /** An object; what a model sent that is no object stands under "raw". */
  arguments: z.record(z.string(), z.unknown()),
  extra,
});
const Metrics = z.strictObject({
  /** Cached tokens included. */
  prompt_tokens: tokens,
  completion_tokens: tokens,
  cached_tokens: tokens,
  cost_usd: z.number().min(0).optional(),
  extra,
});
const Observation = z.strictObject({
  results: z.array(
    z.strictObject({
      source_call_id: z.string().optional(),
      content: z.string().optional(),
      subagent_trajectory_ref: z.unknown().optional(),
      extra,
    }),
  ),
});
const common = {
  step_id: z.int().min(1),
  message: z.union([z.string(), z.array(z.record(z.string(), z.unknown()))]),
  timestamp: z.iso.datetime({ offset: true }).optional(),
  is_copied_context: z.boolean().optional(),
  llm_call_count: z.int().min(0).optional(),
  observation: Observation.optional(),
  extra,
};
/** One step: what the user or the system said, or one answer of the agent with its tool calls and their results. */
export const AtifStep = z.discriminatedUnion("source", [
  z.strictObject({ ...common, source: z.literal("system") }),
  z.strictObject({ ...common, source: z.literal("user") }),
  z.strictObject({
    ...common,
    source: z.literal("agent"),
    model_name: z.string().optional(),
    reasoning_effort: z.unknown().optional(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(ToolCall).optional(),
    metrics: Metrics.optional(),
  }),
]);
export type AtifStep = z.infer<typeof AtifStep>;

/** A trajectory, checked with the rules that the schema alone cannot say. */
export const AtifTrajectory = z
  .strictObject({
    schema_version: z.literal(ATIF_VERSION),
    session_id: z.string().optional(),
    trajectory_id: z.string().optional(),
    agent: z.strictObject({
      name: z.string().min(1),
      version: z.string().min(1),
      model_name: z.string().optional(),
      tool_definitions: z.array(z.unknown()).optional(),
      extra,
    }),
    steps: z.array(AtifStep).min(1),
    notes: z.string().optional(),
    final_metrics: z
      .strictObject({
        total_prompt_tokens: tokens,
        total_completion_tokens: tokens,
        total_cached_tokens: tokens,
        total_cost_usd: z.number().min(0).optional(),
        total_steps: z.int().min(0).optional(),
        extra,
      })
      .optional(),
    continued_trajectory_ref: z.string().optional(),
    subagent_trajectories: z.array(z.unknown()).optional(),
    extra,
  })
  .superRefine(({ steps }, context) => {
    for (const [index, step] of steps.entries()) {
      for (const message of faultsOf(step, index))
        context.addIssue({ code: "custom", path: ["steps", index], message });
    }
  });
export type AtifTrajectory = z.infer<typeof AtifTrajectory>;

function faultsOf(step: AtifStep, index: number): readonly string[] {
  const faults: string[] = [];
  if (step.step_id !== index + 1) faults.push(`step_id is ${step.step_id}, expected ${index + 1}: no gaps`);
  const own = new Set(step.source === "agent" ? step.tool_calls?.map((call) => call.tool_call_id) : []);
  for (const { source_call_id: id } of step.observation?.results ?? []) {
    if (id !== undefined && !own.has(id)) faults.push(`source_call_id "${id}" names no tool call of this step`);
  }
  if (step.source === "agent" && step.llm_call_count === 0 && step.metrics !== undefined) {
    faults.push("a step without a model call has no metrics");
  }
  return faults;
}
