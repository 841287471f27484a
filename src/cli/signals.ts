/**
 * A run's stop button. SIGTERM aborts it in good order, and so does SIGINT; where the job can pause, the first SIGINT lets the
 * checks under way end and the second aborts. One more signal ends the process at once.
 */
export interface SignalExit {
  /** Aborted by the first SIGINT of a job that can pause. */
  readonly pause: AbortSignal;
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal came, else null. */
  readonly exitCode: number | null;
  dispose(): void;
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Listens for SIGINT and SIGTERM until disposed. */
export function signalExit({ canPause = false } = {}): SignalExit {
  const pause = new AbortController();
  const controller = new AbortController();
  let exitCode: number | null = null;
  const onSignal = (name: keyof typeof EXIT_CODES): void => {
    if (controller.signal.aborted) process.exit(EXIT_CODES[name]);
    const isFirst = exitCode === null;
    exitCode = EXIT_CODES[name];
    if (canPause && isFirst && name === "SIGINT") {
      process.stderr.write("\nevoweb: SIGINT: finishing the checks under way; once more stops now\n");
      pause.abort(new Error(`stopped by ${name}`));
      return;
    }
    process.stderr.write(`\nevoweb: ${name}: stopping and cleaning up; once more stops at once\n`);
    controller.abort(new Error(`stopped by ${name}`));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    pause: pause.signal,
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
