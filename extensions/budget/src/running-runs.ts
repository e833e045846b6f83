/** How many runs are remembered: more than a host runs at once. */
const maxRuns = 10_000;

/** The runs of this process that have begun and not ended, with the models that they have called. */
export interface RunningRuns {
  has(runId: string): boolean;
  started(runId: string): void;
  called(runId: string, model: string): void;
  /** Forgets a run. @returns its model; `undefined` if it has called none, `null` if its beginning was not seen. */
  ended(runId: string | undefined): string | null | undefined;
}

/** Makes the list of runs. */
export function runningRuns(): RunningRuns {
  const models = new Map<string, string | undefined>();
  return {
    has: (runId) => models.has(runId),
    started: (runId) => {
      models.set(runId, undefined);
      const [oldest = runId] = models.keys();
      if (models.size > maxRuns) models.delete(oldest);
    },
    called: (runId, model) => {
      if (models.has(runId)) models.set(runId, model);
    },
    ended: (runId) => {
      if (runId === undefined || !models.has(runId)) return null;
      const model = models.get(runId);
      models.delete(runId);
      return model;
    },
  };
}
