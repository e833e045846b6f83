import { createHash, timingSafeEqual } from 'node:crypto';
import type { NodeExchange, OtherRoutes, OwnedRoute } from '../../host/provided/routes.js';
import { type Fields, fieldsOf } from '../../kernel/index.js';
import type { LegacyHttpRoute, LegacyPlugin } from '../index.js';
import { pluginRoutesAt } from '../plugin/http/route-match.js';

/** The routes of the plugins that may answer (extensions-that-act §9.9): one list, as OpenClaw's gateway has it. */
export function routesOfPlugins(plugins: readonly LegacyPlugin[]): OtherRoutes {
  const answering = (): readonly LegacyPlugin[] => plugins.filter((plugin) => plugin.answersHttp);
  return {
    all: () =>
      answering().flatMap((plugin) =>
        plugin.httpRoutes.map((route) => ownedRoute(plugin, route.path, [route], false)),
      ),
    at: (path) => {
      const all = answering().flatMap(({ httpRoutes }) => httpRoutes);
      const { routes, needsToken } = pluginRoutesAt(all, path);
      const owner = plugins.find(({ httpRoutes }) => httpRoutes.some((one) => one === routes[0]));
      return owner && ownedRoute(owner, path, routes, needsToken);
    },
  };
}

function ownedRoute(
  { pluginId: extensionId, config, logger }: LegacyPlugin,
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
    const working = work();
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

/** An answer in the form of OpenClaw's gateway. */
function refused(status: number, message: string, type = 'unsupported'): Response {
  return Response.json({ error: { message, type } }, { status });
}

/** Tells whether a request has the token or the password of OpenClaw's gateway, as the configuration has it. */
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
