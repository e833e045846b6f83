import { previewObstacles } from 'sluice';
import type { InspectedHost } from './source.js';

const holdsBack = " (no answer is shown while it grows: it lacks preview: 'ok')";

/** Tells of the extensions of a running host: their states, grants and handlers, and which of these are in quarantine. */
export function extensionsView({ extensions, kernel }: InspectedHost) {
  const { quarantined } = kernel.stats();
  const stages = kernel.stages();
  return extensions.map(
    ({ extensionId, source, status, error, manifest, reloads, lastReload }) => ({
      ...{ extensionId, source, status, reloads, lastReload: lastReload?.result },
      version: manifest?.version,
      ...(error !== undefined && {
        error: { code: error.code, message: error.message, hint: error.hint },
      }),
      grants: (manifest?.grants ?? []).map((grant) => ({
        grant,
        isGiven: kernel.may(extensionId, grant),
      })),
      isAudited: kernel.isAudited(extensionId),
      quarantined: quarantined.filter((one) => one.extensionId === extensionId),
      handlers: stages.flatMap(({ stage, handlers }) =>
        handlers
          .filter((one) => one.extensionId === extensionId)
          .map((one) => {
            const { family } = stage;
            const holds = family === 'egress.preparing' && previewObstacles([one]).length > 0;
            return `${family} ${one.class} ${one.contributionId}${holds ? holdsBack : ''}`;
          }),
      ),
    }),
  );
}

/** The catalog of a running host, as `sluice stages --json` prints it, as far as the page shows it. */
export function stagesView({ kernel }: InspectedHost): readonly object[] {
  return kernel.stages().map(({ stage, handlers }) => {
    const { family, mode, classes, purpose, emittedBy, timeoutMs } = stage;
    return { family, mode, classes, purpose, emittedBy, timeoutMs, handlers };
  });
}
