import type { Host } from '@sluice/host';
import { payloadFields } from '@sluice/host/internal';
import type { Journal, TendedJournal } from '@sluice/journal';
import type { Logger } from 'sluice-kernel';
import { answerAsOperator, approvalsIn } from '../approvals/approvals.js';
import { unusablePort } from '../errors/port.js';
import { ownPackage } from '../installed/own-package.js';
import { type PipelineOptions, pipelineArgs } from '../settings/flags.js';
import { type JournalPlace, placeName, tendPlace } from '../settings/journal-place.js';
import { lineLogger } from '../settings/logger.js';
import type { Settings } from '../settings/settings.js';
import type { Shell } from '../shell/shell.js';
import { ownCommand } from './own-command.js';

/** The journal that the page shows, or its place, and its host if that runs here. */
type Inspected = { readonly host?: Host } & (
  | { readonly place: JournalPlace }
  | { readonly journal: Journal }
);

/** A replay that the page asks for. */
interface ReplayRequest {
  readonly eventId?: string;
  readonly family?: string;
  readonly last?: number;
  readonly payload?: Readonly<Record<string, unknown>>;
}

/** The package of the page, as far as the command line needs it. */
interface InspectorPackage {
  startInspector(
    source: object,
    options: NonNullable<Settings['inspect']> & { readonly log: Logger },
  ): Promise<AsyncDisposable & { readonly url: string }>;
}

/**
 * Opens the page on a journal, and prints its address with the token.
 *
 * @throws CommandError `missing-package`, `bad-arguments` or `unusable-port`.
 */
export async function openInspector(
  inspected: Inspected,
  choice: PipelineOptions,
  { inspect = {} }: Pick<Settings, 'inspect'>,
  shell: Shell,
  log: Logger = lineLogger(shell.stderr, 'warn', shell.stdout.gone),
): Promise<AsyncDisposable & { readonly url: string }> {
  const options = { ...inspect, log };
  const name = 'sluice-inspector';
  const { startInspector } = await ownPackage<InspectorPackage>(name, 'the page is', shell.cwd);
  // beside the journal of a host, as an operator's: the host looks for what others have changed
  const journal = 'place' in inspected ? await tendPlace(inspected.place) : inspected.journal;
  const close = async (): Promise<void> => {
    if ('place' in inspected) await journal.close();
  };
  try {
    const opened = await startInspector(sourceOf(inspected, journal, choice, shell), options);
    shell.stderr.lines([`sluice: inspector at ${opened.url}`]);
    return {
      url: opened.url,
      [Symbol.asyncDispose]: async () => {
        await opened[Symbol.asyncDispose]();
        await close();
      },
    };
  } catch (cause) {
    await close();
    const ways = '--port, --inspect, or by "inspect" in the config';
    throw unusablePort('the inspector', options, ways, cause);
  }
}

/** All that the page reads and does: `InspectorSource` of the package. */
function sourceOf(
  inspected: Inspected,
  journal: TendedJournal | Journal,
  choice: PipelineOptions,
  shell: Shell,
) {
  const { host } = inspected;
  const place = 'place' in inspected ? inspected.place : undefined;
  const path = place !== undefined && 'path' in place ? place.path : undefined;
  const { keyValues } = journal;
  const pipeline = pipelineArgs(choice);
  const linesOf = async (...command: readonly string[]) =>
    (await ownCommand([...command, ...pipeline], shell)).lines;
  return {
    name: place === undefined ? 'this host' : placeName(place),
    reader: journal,
    tended: journal,
    ...(host !== undefined && { host }),
    approvals: {
      list: async () =>
        (await approvalsIn(keyValues).load()).map(({ payload, ...row }) => ({
          ...{ ...row, fields: payloadFields(payload) },
        })),
      answer: async ({
        always: scope,
        ...answer
      }: Parameters<typeof answerAsOperator>[1] & {
        readonly always?: string;
      }) => void (await answerAsOperator(keyValues, { ...answer, scope })),
    },
    stages: () => linesOf('stages'),
    findings: () => linesOf('doctor', ...(path === undefined ? [] : ['--journal', path])),
    ...(path !== undefined && {
      replay: async ({ eventId, family, last, payload }: ReplayRequest) => {
        const { lines, notes } = await ownCommand(
          [
            ...['replay', '--journal', path, ...pipeline],
            ...(eventId === undefined ? [] : [`--event=${eventId}`]),
            ...(family === undefined ? [] : [`--family=${family}`, '--last', String(last ?? 20)]),
            ...(payload === undefined ? [] : ['--payload', '-']),
          ],
          shell,
          payload === undefined ? '' : JSON.stringify(payload),
        );
        return { rows: lines, notes };
      },
    }),
  };
}
