import type { LegacyHttpRoute } from '../shape/shapes.js';

/** Paths below it are those of the gateway: it asks for its token there, whatever a route says. */
const gatewayPath = '/api/channels';
/** Paths below it are asked by Mattermost, which has a token of its own. */
const mattermostPath = '/api/channels/mattermost/';
/** A path is decoded so often; one that is encoded more often is suspicious. */
const mostPasses = 32;

/**
 * The routes of a path, in the order in which they are asked: those of the whole path, then the longest prefix first.
 *
 * @returns also whether OpenClaw's gateway would ask for its token.
 */
export function pluginRoutesAt(routes: readonly LegacyHttpRoute[], pathname: string) {
  const { forms, isOdd } = formsOf(pathname);
  const found = (match: LegacyHttpRoute['match']): readonly LegacyHttpRoute[] =>
    routes
      .filter((route) => route.match === match && forms.some((form) => isAt(form, route)))
      .sort((a, b) => b.path.length - a.path.length);
  const there = [...found('exact'), ...found('prefix'), ...found('any')];
  const isCallback = found('exact').some(
    ({ path }) => path === pathname && path.startsWith(mattermostPath),
  );
  const isGateways = !isCallback && forms.some((form) => isBelow(form, gatewayPath));
  const needsToken = isOdd || isGateways || there.some(({ auth }) => auth === 'gateway');
  return { routes: there, needsToken };
}

function isAt(form: string, { path, match }: LegacyHttpRoute): boolean {
  if (match === 'any') return true;
  return match === 'exact' ? form === formOf(path) : isBelow(form, formOf(path));
}

function isBelow(form: string, prefix: string): boolean {
  return form === prefix || form.startsWith(`${prefix}/`) || form.startsWith(`${prefix}%`);
}

/** Returns whether two routes share a path. */
export function doOverlap(one: LegacyHttpRoute, other: LegacyHttpRoute): boolean {
  if (one.match === 'any' || other.match === 'any') return false;
  return isAt(formOf(other.path), one) || isAt(formOf(one.path), other);
}

/** The form that a path is compared in. */
function formOf(path: string): string {
  return formsOf(path).forms.at(-1) ?? '/';
}

/** A path as it is, and as it is each time that it is decoded: none of them may slip past a rule. */
function formsOf(path: string): { readonly forms: readonly string[]; readonly isOdd: boolean } {
  const forms = new Set<string>();
  for (let [at, passes] = [path, 0]; ; passes += 1) {
    forms.add(plainPath(at));
    try {
      const next = decodeURIComponent(at);
      const isWhole = next === at;
      if (isWhole || passes === mostPasses) return { forms: [...forms], isOdd: !isWhole };
      at = next;
    } catch {
      return { forms: [...forms], isOdd: true };
    }
  }
}

/** A path in small letters, without dots, double slashes and a slash at its end. */
function plainPath(path: string): string {
  const resolved = URL.canParse(path, 'http://localhost')
    ? new URL(path, 'http://localhost').pathname
    : path;
  return resolved
    .toLowerCase()
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '');
}
