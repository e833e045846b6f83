import { createHash, timingSafeEqual } from 'node:crypto';
import type {
  NodeExchange,
  OwnedRoute,
  PluginHost,
  PluginOffer,
  PluginRoutes,
  ToolTurn,
} from '@sluice/host';
import { definedFields, type Fields, fieldsOf, getOrMake } from 'sluice-kernel/internal';
import { pluginRoutesAt } from '../plugin/http/route-match.js';
import type { LegacyIntake } from '../plugin/shape/intake.js';
import type { LegacyPlugin } from '../plugin/shape/plugin.js';
import type { LegacyHttpRoute, LegacyToolTurn } from '../plugin/shape/shapes.js';
import { legacyChannel } from './legacy-channel.js';
import { legacyCommand } from './legacy-command.js';

/** Characters of a request that are kept for as long as it is answered. */
const mostHeard = 100_000;

/** Gives a host what a plugin brings. Factories of tools are called for each turn, as OpenClaw calls them for each run. */
export function offerOf(plugin: LegacyPlugin, host: PluginHost): PluginOffer {
  plugin.state.keepIn(host.keyValues);
  return {
    owner: plugin.pluginId,
    channels: plugin.channels.map((channel) => legacyChannel(plugin, channel, host)),
    commands: plugin.commands.map((command) => legacyCommand(plugin, command)),
    routes: legacyRoutes(plugin, host),
    toolsFor: (turn) => plugin.tools.flatMap((tool) => tool.make(contextOf(plugin, turn))),
  };
}

function contextOf(
  { config, workspaceDir }: LegacyPlugin,
  { agentId, sessionKey, sessionId, message, principal }: ToolTurn,
): LegacyToolTurn {
  const { channel, surface, accountId, sender } = message;
  return {
    ...{ config, workspaceDir, agentId, sessionKey, sessionId },
    messageChannel: surface ?? channel,
    sandboxed: false,
    senderIsOwner: principal?.isOwner === true,
    ...definedFields({ agentAccountId: accountId, requesterSenderId: sender?.id }),
  };
}

/** The plugins of a host that may answer: their routes are one list, as OpenClaw's gateway has it (extensions-that-act §9.9). */
const answering = new WeakMap<PluginHost, LegacyPlugin[]>();

/** The routes of a plugin. It answers a path if the first route of the path is its own, and has the other plugins answer, too. */
function legacyRoutes(plugin: LegacyPlugin, host: PluginHost): PluginRoutes {
  if (!plugin.answersHttp) return { all: () => [], at: () => undefined };
  const plugins = getOrMake(answering, host, () => []);
  plugins.push(plugin);
  const { httpRoutes } = plugin;
  return {
    all: () => httpRoutes.map((route) => ownedRoute(plugin, route.path, [route], false)),
    at: (path) => {
      const all = plugins.flatMap((one) => one.httpRoutes);
      const { routes, needsToken } = pluginRoutesAt(all, path);
      const isOwner = httpRoutes.some((one) => one === routes[0]);
      return isOwner ? ownedRoute(plugin, path, routes, needsToken) : undefined;
    },
  };
}

function ownedRoute(
  { pluginId: extensionId, config, logger, intake }: LegacyPlugin,
  path: string,
  routes: readonly LegacyHttpRoute[],
  needsToken: boolean,
): OwnedRoute {
  const handler = async ({ headers }: Request, at: NodeExchange | undefined): Promise<Response> => {
    if (at === undefined) return refused(501, 'a plugin answers at the port of its host alone');
    if (needsToken && !hasToken(config, headers.get('authorization') ?? ''))
      return refused(401, 'Unauthorized', 'unauthorized');
    const { request, response } = at;
    const ended = new Promise<void>((resolve) => void response.once('close', resolve));
    const work = async (): Promise<boolean> => {
      for (const { handler: answer } of routes)
        if ((await answer(request, response)) !== false) return true;
      return false;
    };
    const working = answered(intake, at, work);
    working.catch((error: unknown) => {
      if (response.closed) logger.error('a route failed after its answer', { path, error });
    });
    const isAnswered = await Promise.race([working, ended]);
    if (isAnswered === false) return refused(404, 'Not Found', 'not_found');
    if (!response.closed) await ended;
    return new Response(null);
  };
  return { extensionId, route: { method: '*', path, handler } };
}

/** Has a plugin answer. A request whose text it has lost is not answered as if all were well (spec §17.36). */
async function answered(
  intake: LegacyIntake,
  { request, response }: NodeExchange,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const { method, url = '/' } = request;
  let heard = '';
  let isRefused = false; // its sender has learned that it was not taken
  const decoder = new TextDecoder();
  const raw = (): unknown =>
    heard === '' || isRefused ? undefined : { method, path: url.split('?', 1)[0], body: heard };
  return intake.carry(raw, async (isLost) => {
    const emit = request.emit.bind(request);
    const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => unknown; // of any form
    Object.assign(request, {
      emit: (name: string, ...given: unknown[]) => {
        const [chunk] = given;
        if (name === 'data' && heard.length < mostHeard)
          heard += chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : chunk;
        return emit(name, ...given);
      },
    });
    Object.assign(response, {
      writeHead: (status: number, ...rest: unknown[]) => {
        isRefused = status >= 400;
        return writeHead(!isRefused && isLost() ? 500 : status, ...rest);
      },
    });
    try {
      return await work();
    } catch (error) {
      isRefused ||= !response.headersSent; // the host answers 500
      throw error;
    }
  });
}

/** An answer in the form of OpenClaw's gateway. */
function refused(status: number, message: string, type = 'unsupported'): Response {
  return Response.json({ error: { message, type } }, { status });
}

/** Returns whether a request has the token or the password of OpenClaw's gateway, as the configuration has it. */
function hasToken(config: Fields, header: string): boolean {
  const { mode, token, password } = fieldsOf(fieldsOf(config['gateway'])['auth']);
  if (mode === 'none') return true;
  const isPassword = mode === 'password' || (mode === undefined && password !== undefined);
  const wanted = isPassword ? password : token;
  const given = /^Bearer\s+(.+)$/i.exec(header)?.[1] ?? '';
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return (
    typeof wanted === 'string' && wanted !== '' && timingSafeEqual(digest(given), digest(wanted))
  );
}
