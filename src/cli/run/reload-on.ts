import type { ExtensionSet } from '../../extension/index.js';
import type { Host } from '../../host/index.js';
import { errorLine } from '../errors/error-line.js';
import type { Shell } from '../shell/shell.js';
import { ExtensionWatch } from './extension-watch.js';

/**
 * Reloads extensions when their files change, if `--watch` asks for it, and all of them on SIGHUP, unless a person types
 * here: a terminal that is closed sends a SIGHUP, too. The reason of a failed reload goes to stderr.
 */
export function reloadOn(
  host: Host,
  extensions: ExtensionSet,
  { watch }: { readonly watch?: boolean },
  { isTerminal, onHangup, stderr }: Shell,
): Disposable | undefined {
  const reload = async (ids: readonly (string | undefined)[]): Promise<void> => {
    for (const id of ids) {
      if (host.state !== 'running') return;
      const results = await host.reload(id).catch(() => []); // it is stopping
      for (const { extensionId, result, error } of results) {
        if (result === 'reloaded') stderr.lines([`sluice: ${extensionId} was reloaded`]);
        if (error !== undefined) stderr.lines([errorLine(error, false)]);
      }
    }
  };
  if (!isTerminal.stdin) onHangup(() => void reload([undefined]));
  return watch === true ? new ExtensionWatch(extensions, reload) : undefined;
}
