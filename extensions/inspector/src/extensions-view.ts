import { previewObstacles } from 'sluice';
import { schemas } from 'sluice-kernel/schemas';
import type { InspectedHost } from './source.js';

const holdsBack = " (no answer is shown while it grows: it lacks preview: 'ok')";

/** Tells of the extensions of a running host: their states, grants and handlers, and which of these are in quarantine. */
export function extensionsView({ extensions, kernel }: InspectedHost) {
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
      quarantined: kernel.stats().quarantined.filter((one) => one.extensionId === extensionId),
      handlers: stages.flatMap(({ stage: { family }, handlers }) =>
        handlers
          .filter((one) => one.extensionId === extensionId)
          .map((one) => {
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
    const { family, mode, classes, emittedBy, timeoutMs } = stage;
    const { purpose } = schemas[family] ?? stage; // the kernel has no sentences for people
    return { family, mode, classes, purpose, emittedBy, timeoutMs, handlers };
  });
}
