import { type Clock, definedFields, type Logger } from '../../kernel/index.js';
import type { ExtensionHost } from '../define/extension-host.js';
import type { KeptSend } from '../define/send.js';
import type { ExtensionStore } from '../define/store.js';
import { dryStore } from '../store/dry-store.js';

/** A host whose members may be missing, or come later. */
export type HostMembers = { readonly [K in keyof ExtensionHost]?: ExtensionHost[K] | undefined };

/** The parts of a dry host. */
export interface DryHostParts {
  readonly extensionId: string;
  /** The host that answers reads. Its members are looked up when they are called. */
  readonly host: HostMembers;
  /** The store that is read if the host has none. */
  readonly ownStore: () => ExtensionStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The port of a host for an extension that is audited: its acts answer as if they were done, and have no effect; reads are
 * those of the host (judgement §3.8). An act that the host cannot do is missing here, too.
 */
export function dryHost({ extensionId, host, ownStore, clock, log }: DryHostParts): HostMembers {
  const told = new Set<string>();
  const tell = (act: string): void => {
    if (told.has(act)) return;
    told.add(act);
    log.info('an act of an audited extension was held back, as others of its name will be', {
      act,
    });
  };
  let acts = 0;
  const idOf = (act: string, key: string | undefined): string =>
    `dry-${act}-${key === undefined ? `${++acts}` : `key-${key}`}`;
  const kept = (): ExtensionStore => host.storeOf?.(extensionId) ?? ownStore();
  const onWrite = (): void => tell('store');
  const store = dryStore(extensionId, { kept, clock, onWrite });
  const send: ExtensionHost['send'] = async (_, message): Promise<KeptSend> => {
    tell('send');
    const { content, channel, accountId, key } = message;
    const report = { status: 'sent', content, channel, attempts: 1, indexKeys: [] } as const;
    const ended = Promise.resolve({ ...report, ...definedFields({ accountId }) });
    return { sendId: idOf('send', key), ended };
  };
  const ask: ExtensionHost['ask'] = async (_, { name, options }) => {
    tell('ask');
    const key = options.key === undefined ? undefined : `${name}/${options.key}`;
    const id = idOf('ask', key);
    return { id, sendId: `${id}-send` };
  };
  const inject: ExtensionHost['inject'] = async () => tell('inject');
  return {
    storeOf: () => store,
    get stateDirOf() {
      return host.stateDirOf;
    },
    get figures() {
      return host.figures;
    },
    get send() {
      return host.send && send;
    },
    get ask() {
      return host.ask && ask;
    },
    get inject() {
      return host.inject && inject;
    },
  };
}
