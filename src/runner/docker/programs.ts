import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { APP_UID } from "./image-recipe.ts";
import { MARKER } from "./run-command.ts";

// Low ports that programs do not ask for; the place's own network has nothing else on them.
/** Where the egress proxy answers inside a place. */
export const EGRESS_PORT = 898;
const GUARD_PORT = 899;
/** Where the model gateway answers inside a place that has one. */
export const GATEWAY_PORT = 897;

/** The relay's command line. The file runs as it stands: as TypeScript from the sources, as JavaScript from the package. */
export function relayArgv(): string[] {
  const extension = extname(import.meta.url);
  const code = readFileSync(new URL(`./relay-program${extension}`, import.meta.url), "utf8");
  const inputType = extension === ".ts" ? "module-typescript" : "module";
  const ports = [String(APP_UID), String(EGRESS_PORT), String(GUARD_PORT), String(GATEWAY_PORT)];
  return ["node", "--no-warnings", `--input-type=${inputType}`, "-e", code, "--", ...ports];
}

/**
 * Main process of the app container: a connection to the relay that ends the container when it closes, and answers from
 * inside the container's own cgroup. Shell built-ins only: it must work at the pid limit and costs next to no memory.
 */
export const GUARD_ARGV: readonly string[] = [
  "/bin/bash",
  "-c",
  `exec 3<>/dev/tcp/127.0.0.1/${GUARD_PORT} || exit 1
while read -r op <&3; do
  kills=-1
  for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$file" ] && while read -r key value; do [ "$key" = oom_kill ] && kills=$value; done < "$file"
  done
  echo "$kills" >&3
done`,
];

const EACH_OWN_PROCESS = `for d in /proc/[0-9]*; do p=\${d#/proc/}; [[ -O $d && $p != $$ ]] || continue
  stat=; { IFS= read -rd '' stat < $d/stat; } 2>/dev/null; [[ -n $stat ]] || continue
  set -f; f=(\${stat##*) }); set +f; [[ \${f[0]} != Z ]] || continue`;

/**
 * Ends a command: everything that carries its marker, descends from such a process or shares its session. Stopped first,
 * so that none can fork away while the others are looked for.
 */
export const END_MARKED = `marker=${MARKER}=$1; declare -A doomed sessions; found=1; rounds=0
while [[ $found = 1 && $rounds -lt 100 ]]; do found=0; rounds=$((rounds+1))
${EACH_OWN_PROCESS}
  [[ -z \${doomed[$p]} ]] || continue
  hit=\${doomed[\${f[1]}]}\${sessions[\${f[3]}]}
  if [[ -z $hit ]]; then e=(); { mapfile -d '' -t e < $d/environ; } 2>/dev/null
    for v in "\${e[@]}"; do [[ $v = "$marker" ]] && hit=1; done; fi
  [[ -n $hit ]] && { kill -STOP $p; doomed[$p]=1; sessions[\${f[3]}]=1; found=1; }
done; done 2>/dev/null
[[ \${#doomed[@]} = 0 ]] || kill -9 "\${!doomed[@]}" 2>/dev/null
exit 0`;

/**
 * Ends everything: prints the command lines met (each ended by NUL), SIGTERM, up to $1 steps of 50 ms for an orderly end,
 * then one SIGKILL for all, which the kernel sends in one go so that no fork slips through. Standard input must stay open: it is the clock.
 */
export const END_ALL = `met=()
${EACH_OWN_PROCESS}
  line=(); { mapfile -d '' -t line < $d/cmdline; } 2>/dev/null
  printf '%s\\0' "\${line[*]:-\${stat%)*}}"; met+=($p); done
[[ \${#met[@]} = 0 ]] || kill -TERM "\${met[@]}" 2>/dev/null
wait_for_end() { for ((step = 0; step < $1 && alive > 0; step++)); do read -rt 0.05 _; alive=0
${EACH_OWN_PROCESS}
  alive=1; break; done; done; }
alive=\${#met[@]}
wait_for_end $1
kill -9 -1 2>/dev/null
alive=\${#met[@]}
wait_for_end 100
exit 0`;
