import type { Call, OpenContribution } from 'sluice-kernel/internal';
import { type BootstrapFiles, bootstrapView } from './bootstrap-files.js';
import type { InternalHookHandler } from './event.js';
import type { HookTrigger } from './hook-trigger.js';
import type { InternalHookRow, InternalHookSink } from './row.js';
import { internalHookRows } from './rows.js';

/** One registration on the bus. */
export interface Registration {
  /** A type, or a type and an action: `command`, `command:new`. */
  readonly key: string;
  readonly handler: InternalHookHandler;
  /** How many were registered on this bus before it. */
  readonly index: number;
  /** The owner's name for contribution ids, such as that of a plugin. */
  readonly owner: string | undefined;
  /** The user of the bus who has registered it. */
  readonly user: object;
}

/** The bus as its contributions use it. */
interface Bus {
  readonly extensionId: string;
  readonly timeoutMs: number;
  /** The trigger of a row in a dispatch, or nothing if the legacy system would fire none. */
  triggerOf(row: InternalHookRow, sink: InternalHookSink, call: Call): HookTrigger | undefined;
}

/** The contributions of a registration: one for each family of each key that it hears. */
export function contributionsOf(bus: Bus, registration: Registration): OpenContribution[] {
  const { key } = registration;
  return internalHookRows.flatMap((row, at) => {
    const isOfType = key === row.type;
    if (!isOfType && key !== `${row.type}:${row.action}`) return [];
    // Ids sort by code unit: row by row, handlers of the type first, each kind in order of registration.
    const order = [String(at).padStart(2, '0'), isOfType ? '0' : '1'];
    const rank = `${order.join('.')}.${String(registration.index).padStart(9, '0')}`;
    const whose = registration.owner === undefined ? '' : `.${registration.owner}`;
    return row.sinks.map(
      (sink): OpenContribution => ({
        family: sink.family,
        class: sink.class,
        extensionId: bus.extensionId,
        id: `${rank}.${row.type}:${row.action}.${sink.family}${whose}`,
        ...(row.awaited ? { timeoutMs: bus.timeoutMs } : { detached: true }),
        handler: runner(bus, registration.handler, row, sink),
      }),
    );
  });
}

function runner(
  bus: Bus,
  handler: InternalHookHandler,
  row: InternalHookRow,
  sink: InternalHookSink,
): (call: Call) => unknown {
  return (call) => {
    const trigger = bus.triggerOf(row, sink, call);
    if (trigger === undefined) return undefined;
    if (!row.awaited) return trigger.queue(handler);
    if (sink.class === 'observer') return trigger.call(handler);
    if (sink.class === 'augmenter')
      return after(trigger.call(handler), () => {
        const replies = trigger.newReplies();
        return replies.length > 0 ? { replies } : undefined;
      });
    const files = filesOf(call);
    const view = (trigger.files ??= bootstrapView(trigger.event, filesOf(call.event)));
    view.pull(files);
    return after(trigger.call(handler), () => view.patch(files));
  };
}

/** Reads the result of a handler once it has settled; at once if the handler did not wait. */
function after<T>(settling: void | Promise<void>, read: () => T): T | Promise<T> {
  return settling === undefined ? read() : settling.then(read);
}

function filesOf({ payload }: Pick<Call, 'payload'>): BootstrapFiles {
  const { bootstrapFiles = [] } = payload as { readonly bootstrapFiles?: BootstrapFiles }; // agent.prompt.building
  return bootstrapFiles;
}
