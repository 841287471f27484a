/** What has to be undone, newest first. Node 20 does not have the language's own AsyncDisposableStack. */
export class CleanupStack implements AsyncDisposable {
  #steps: (() => Promise<void>)[] = [];

  /** Adds a step to be done on disposal. */
  defer(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** Does all steps, also after one has failed, then throws the first failure. A second call does nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    const steps = this.#steps.toReversed();
    this.#steps = [];
    const failures: unknown[] = [];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
