import { previewObstacles } from 'sluice';
import { schemas } from 'sluice-kernel/schemas';
import type { InspectedHost } from './source.js';

/** Tells of the extensions of a running host: what each one gives to it, takes from it and hears, and its troubles. */
export function extensionsView({ extensions, kernel }: InspectedHost) {
  const stages = kernel.stages();
  return extensions.map((extension) => {
    const { extensionId, source, status, error, manifest, reloads, lastReload, labels } = extension;
    const own = stages.map(({ stage: { family }, handlers }) => ({
      family,
      handlers: handlers.filter((one) => one.extensionId === extensionId),
    }));
    return {
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
      provides: labels.flatMap(
        (label) => /^(?:provided |(?=schedule |question ))(.*)$/.exec(label)?.[1] ?? [],
      ),
      switchesOff: own.flatMap(previewNotices),
      handlers: own
        .filter(({ handlers }) => handlers.length > 0)
        .map(({ family, handlers }) => ({
          family,
          names: handlers.map((one) => `${one.class} ${one.contributionId}`),
        })),
    };
  });
}

interface OwnHandlers {
  readonly family: string;
  readonly handlers: Parameters<typeof previewObstacles>[0];
}

/** Names the handlers of an extension because of which answers are not shown while they grow (spec §14.7). */
function previewNotices({ family, handlers }: OwnHandlers): string[] {
  if (family !== 'egress.preparing' && family !== 'agent.llm.returning') return [];
  const found = previewObstacles(handlers);
  if (found.length === 0) return [];
  const isOfAll = found.some(({ match, operatorMatch }) => !match && !operatorMatch);
  const which = isOfAll
    ? 'no answer is shown while it grows'
    : 'some answers are not shown while they grow';
  const names = found.map(({ contributionId }) => contributionId).join(', ');
  return [`${which}: ${names} of ${family} ${found.length === 1 ? 'lacks' : 'lack'} preview: 'ok'`];
}

/** The catalog of a running host, as `sluice stages --json` prints it, as far as the page shows it. */
export function stagesView({ kernel }: InspectedHost): readonly object[] {
  return kernel.stages().map(({ stage, handlers }) => {
    const { family, mode, classes, emittedBy, timeoutMs } = stage;
    const { purpose } = schemas[family] ?? stage; // the kernel has no sentences for people
    return { family, mode, classes, purpose, emittedBy, timeoutMs, handlers };
  });
}
