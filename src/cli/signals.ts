/** A run's stop button: the first SIGINT or SIGTERM aborts it in good order, the second ends the process at once. */
export interface SignalExit {
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came, else null. */
  readonly exitCode: number | null;
  dispose(): void;
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Listens for SIGINT and SIGTERM until disposed. */
export function signalExit(): SignalExit {
  const controller = new AbortController();
  let exitCode: number | null = null;
  const onSignal = (name: keyof typeof EXIT_CODES): void => {
    if (exitCode !== null) process.exit(EXIT_CODES[name]);
    exitCode = EXIT_CODES[name];
    process.stderr.write(`\nevoweb: ${name}: stopping and cleaning up; once more stops at once\n`);
    controller.abort(new Error(`stopped by ${name}`));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    dispose() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}
