import { definedFields, type Fields, loggerWith } from 'sluice-kernel/internal';
import type { Registering } from '../api/registering.js';
import { detectMime, isVoiceCompatibleAudio, mediaKindFromMime } from './mime.js';
import { systemEvents } from './next-prompt.js';
import { runCommandWithTimeout } from './system.js';
import { loadWebMedia } from './web-media.js';

/** The stores of profile 2026.9 that are not here: nothing is kept by them, so they throw. */
const laterStores = ['openSyncKeyedStore', 'openBlobStore', 'openChannelIngressDrain'];

/**
 * The parts of `api.runtime` that are served here, each with its members. A member that would change something which a host does not
 * have rejects, whatever `unsupported` says: to skip it would be to say that it was done. So throws one that would keep something.
 */
export function servedParts(plugin: Registering): Readonly<Record<string, Fields>> {
  const { config, stateDir, workspaceDir, refusals } = plugin;
  const { openKeyedStore, openChannelIngressQueue } = plugin.state;
  const stores = laterStores.map(
    (name) => [name, refusals.throwing('api.runtime.state', `api.runtime.state.${name}`)] as const,
  );
  return {
    config: {
      loadConfig: () => config,
      current: () => config,
      writeConfigFile: refusals.rejecting(
        'api.runtime.config',
        'api.runtime.config.writeConfigFile',
      ),
    },
    logging: {
      shouldLogVerbose: () => false,
      getChildLogger: (bindings: Fields = {}) => childLogger(plugin, bindings),
    },
    state: {
      resolveStateDir: () => stateDir,
      openKeyedStore,
      openChannelIngressQueue,
      ...Object.fromEntries(stores),
    },
    system: {
      runCommandWithTimeout,
      enqueueSystemEvent: systemEvents(plugin),
      formatNativeDependencyHint: ({ packageName }: { readonly packageName: string }) =>
        `Install ${packageName} with its scripts: npm rebuild ${packageName}`,
    },
    media: {
      detectMime,
      mediaKindFromMime,
      isVoiceCompatibleAudio,
      loadWebMedia: (url: string, options?: Parameters<typeof loadWebMedia>[2]) =>
        loadWebMedia([workspaceDir, stateDir], url, options),
      getImageMetadata: async () => null, // as OpenClaw gives where it cannot read an image
      resizeToJpeg: refusals.rejecting('api.runtime.media', 'api.runtime.media.resizeToJpeg'),
    },
  };
}

/** `api.runtime.logging.getChildLogger`: its entries have the bindings as fields. */
function childLogger({ logger, refusals }: Registering, bindings: Fields): object {
  return loggerWith((level, message, meta) =>
    logger[level](refusals.plain(String(message)), definedFields({ ...bindings, ...meta })),
  );
}
