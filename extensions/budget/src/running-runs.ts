/** How many runs are remembered: more than a host runs at once. */
const maxRuns = 10_000;

/** The runs of this process that have begun and not ended, with the models that they have called. */
export function runningRuns() {
  const models = new Map<string, string | undefined>();
  return {
    has: (runId: string): boolean => models.has(runId),
    started: (runId: string): void => {
      models.set(runId, undefined);
      const [oldest = runId] = models.keys();
      if (models.size > maxRuns) models.delete(oldest);
    },
    called: (runId: string, model: string): void => {
      if (models.has(runId)) models.set(runId, model);
    },
    /** Forgets a run. @returns its model; `undefined` if it has called none, `null` if its beginning was not seen. */
    ended: (runId: string | undefined): string | null | undefined => {
      if (runId === undefined || !models.has(runId)) return null;
      const model = models.get(runId);
      models.delete(runId);
      return model;
    },
  };
}
