import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { definedFields, fieldsOf, type PayloadOf } from 'sluice-kernel/internal';
import { isReservedCommand } from '../api/register-rest.js';
import type { Registering } from '../api/registering.js';
import * as commands from '../channel/commands.js';
import * as groupPolicies from '../channel/groups.js';
import { activityOf, sessionsOf } from '../channel/memory.js';
import * as mentions from '../channel/mentions.js';
import { pairingOf } from '../channel/pairing.js';
import { buildAgentSessionKey, resolveAgentRoute } from '../channel/routing.js';
import { textOf } from '../channel/settings.js';
import * as texts from '../channel/texts.js';
import { moduleOf } from '../sdk/sdk-module.js';
import { debounceOf } from './debounce.js';
import { inboundOf } from './inbound.js';
import { ingressOf } from './ingress.js';
import { detectMime, endingOf } from './mime.js';
import { replyOf } from './reply.js';
import { fromWeb, usualMaxBytes } from './web-media.js';
import { withStandIns } from './with-stand-ins.js';

/**
 * `api.runtime.channel` of a plugin (spec §17.18). A function or a group that is not there is a stand-in, which refuses by name:
 * so are those of single providers, such as `telegram`.
 */
export function channelRuntimeOf(plugin: Registering): object {
  const { clock, stateDir, refusals, kernel, report, intake: way } = plugin;
  const hasControlCommand = (text: unknown): boolean =>
    commands.isCommandLine(text, (name) => isReservedCommand(name) || hasCommand(plugin, name));
  const { shouldAckReaction, removeAckReactionAfterReply, ...named } = mentions;
  const { shouldHandleTextCommands, resolveCommandAuthorizedFromAuthorizers } = commands;
  const requested = (request: PayloadOf<'account.pairing.requested'>): void => {
    const told = kernel.dispatch('account.pairing.requested', request);
    told.catch((error: unknown) => report('error', 'a request to be paired is not told', error));
  };
  const reply = replyOf(plugin);
  const inbound = inboundOf(reply, way);
  const groups = {
    text: { ...texts, hasControlCommand },
    reply,
    ...{ inbound, turn: inbound }, // `turn` is its older name
    routing: { buildAgentSessionKey, resolveAgentRoute },
    pairing: pairingOf(clock, stateDir, requested),
    media: channelMedia(stateDir),
    activity: activityOf(clock),
    session: sessionsOf(clock, stateDir),
    mentions: named,
    reactions: { shouldAckReaction, removeAckReactionAfterReply },
    groups: { ...groupPolicies },
    debounce: debounceOf(
      clock,
      way,
      () =>
        fieldsOf(moduleOf(plugin.openclaw, 'channel-inbound-debounce'))['createInboundDebouncer'],
    ),
    commands: {
      shouldHandleTextCommands,
      resolveCommandAuthorizedFromAuthorizers,
      isControlCommandMessage: hasControlCommand,
      shouldComputeCommandAuthorized: (text: unknown): boolean =>
        hasControlCommand(text) || commands.mayHoldCommand(text),
    },
  };
  const standIn = refusals.part('api.runtime.channel') as Readonly<Record<string, object>>; // it has every member
  let ingress: object | undefined; // it is looked for when the plugin asks for it
  const rest = (name: string): object => {
    const absent = standIn[name] ?? {};
    if (groups[name as keyof typeof groups] !== inbound) return absent;
    ingress ??= ingressOf(plugin);
    return ingress === undefined ? absent : withStandIns({ ingress }, () => absent);
  };
  const filled = Object.entries(groups).map(([name, group]) => {
    const watched = way.watch(`api.runtime.channel.${name}`, group);
    return [name, withStandIns(watched, () => rest(name))] as const;
  });
  return withStandIns(Object.fromEntries(filled), () => standIn);
}

function hasCommand({ commands: own }: Registering, name: string): boolean {
  return own.some((command) => command.name.trim().toLowerCase() === name);
}

/** The bytes of one file that is kept, if the caller names no other bound. */
const usualBytes = 5 * 1_048_576;

interface Fetching extends Partial<Parameters<typeof fromWeb>[2]> {
  readonly url: string;
  readonly maxBytes?: number;
  readonly filePathHint?: string;
}

/** `channel.media`: reads a file that a message names, and keeps one. @param stateDir the plugin's: files go to `media` in it. */
function channelMedia(stateDir: string) {
  const fetchRemoteMedia = async ({ url, maxBytes = usualMaxBytes, ...how }: Fetching) => {
    const { buffer, contentType, fileName } = await fromWeb(new URL(url), maxBytes, how);
    const hinted = basename(how.filePathHint ?? '') || undefined;
    return { buffer, ...definedFields({ contentType, fileName: hinted ?? fileName }) };
  };
  const saveMediaBuffer = async (
    buffer: Buffer,
    contentType?: string,
    subfolder = 'inbound',
    maxBytes = usualBytes,
    originalFilename?: string,
  ) => {
    if (buffer.byteLength > maxBytes) throw new Error(`a file is larger than ${maxBytes} bytes`);
    const folder = join(stateDir, 'media', basename(subfolder));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = textOf(originalFilename) ?? '';
    const type = await detectMime({ buffer, filePath: name, headerMime: contentType ?? null });
    const stem = basename(name, extname(name))
      .replaceAll(/[^\w-]+/g, '_')
      .slice(0, 60);
    const ending =
      endingOf(type) ??
      extname(name)
        .replaceAll(/[^.\w]/g, '')
        .slice(0, 10);
    const id = `${stem === '' ? '' : `${stem}---`}${randomUUID()}${ending}`;
    await writeFile(join(folder, id), buffer, { mode: 0o600 });
    return { id, path: join(folder, id), size: buffer.byteLength, contentType: type };
  };
  return {
    fetchRemoteMedia,
    readRemoteMediaBuffer: fetchRemoteMedia,
    saveMediaBuffer,
    saveRemoteMedia: async ({ maxBytes = usualMaxBytes, ...given }: Fetching) => {
      const { buffer, contentType, fileName } = await fetchRemoteMedia({ ...given, maxBytes });
      return saveMediaBuffer(buffer, contentType, undefined, maxBytes, fileName);
    },
  };
}
