import Module, { createRequire, register } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { compilerUrl, markedUrl } from '@sluice/sdk/extension/internal';
import type * as Esbuild from 'esbuild';
import type { PluginSdk } from './find-openclaw.js';
import { ownNames } from './own-names.js';
import { isModuleText, sdkHooks } from './sdk-hooks.js';

/** A plugin that imports OpenClaw's code. */
interface SdkUser {
  readonly sdk: PluginSdk;
  /** Makes the error of a name that there is not. */
  readonly missing: (file: string, specifier: string, name: string) => Error;
}

/** The offer of this process. Two installed copies of this package agree on it. */
interface Offer {
  readonly names: Readonly<Record<string, unknown>>;
  /** The plugins by their folders. */
  readonly users: Map<string, SdkUser>;
}

const offerKey = Symbol.for('sluice.plugin-sdk');

/**
 * The part of Node's loader of CommonJS that is wrapped. Its declarations leave it out. There is no public way: on Node 20 the
 * hooks of `register` see no `require` of a CommonJS file, and `module.registerHooks`, which does, begins with Node 22.15.
 * The hooks are a data URL, because a host that is one bundle has no file of them.
 */
interface RequireLoader {
  _load: (
    request: string,
    parent: { readonly filename?: string | null } | undefined,
    isMain: boolean,
  ) => unknown;
  readonly prototype: {
    _compile: (this: unknown, text: string, file: string, ...rest: unknown[]) => unknown;
  };
}

/**
 * Offers a plugin the code of its OpenClaw, and for what that lacks Sluice's own names.
 *
 * @param folder the plugin's folder: `require` and `import()` of its files is served.
 * @returns the URL that its entry file is imported by.
 */
export function offerSdk(source: string, folder: string, user: SdkUser): string {
  offerOf().users.set(folder, user);
  const url = new URL(markedUrl(pathToFileURL(source).href));
  url.searchParams.set('openclaw', user.sdk.path ?? '');
  url.searchParams.set('plugin', `${pathToFileURL(folder).href}/`);
  return url.href;
}

function offerOf(): Offer {
  const process = globalThis as { [offerKey]?: Offer };
  const known = process[offerKey];
  if (known !== undefined) return known;
  const offer: Offer = { names: ownNames, users: new Map() };
  process[offerKey] = offer;
  markedUrl(import.meta.url); // the hooks that compile come first: these here stand in front of them
  const names = Object.keys(ownNames).join(',');
  const own = `const names=globalThis[Symbol.for('${offerKey.description}')].names;export const {${names}}=names;export default names`;
  register(`data:text/javascript,${encodeURIComponent(sdkHooks)}`, {
    parentURL: import.meta.url,
    data: { compiler: compilerUrl(), own: `data:text/javascript,${encodeURIComponent(own)}` },
  });
  serveRequire(offer);
  return offer;
}

/** Serves `require('openclaw/plugin-sdk')` of a plugin's files, which no hook of `import` sees. */
function serveRequire({ names, users }: Offer): void {
  const loader = Module as unknown as RequireLoader; // its declarations leave `_load` out
  const compile = loader.prototype._compile;
  loader.prototype._compile = function (text, file, ...rest) {
    const isOfPlugin = /\.m?js$/.test(file) && userOf(users, file) !== undefined;
    const isModule = isOfPlugin && isModuleText(text, compileFunction);
    if (!isModule) return compile.call(this, text, file, ...rest);
    return compile.call(this, asCommonJs(text, file), file, 'commonjs'); // whatever its package says
  };
  const load = loader._load;
  loader._load = function (request, parent, isMain) {
    const file = parent?.filename;
    if (!/^openclaw(\/plugin-sdk(\/|$)|$)/.test(request) || typeof file !== 'string')
      return load.call(this, request, parent, isMain);
    const user = userOf(users, file);
    if (user === undefined) return load.call(this, request, parent, isMain);
    const { path } = user.sdk;
    try {
      if (path !== undefined) return createRequire(join(path, 'package.json'))(request);
    } catch (thrown) {
      const { code } = Object(thrown) as { readonly code?: unknown }; // as Node throws it
      if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw thrown;
    }
    return new Proxy(names, {
      get: (_, name) => {
        if (name === '__esModule') return true;
        if (typeof name === 'symbol' || name === 'then' || name === 'default' || name in names)
          return name === 'default' ? names : Reflect.get(names, name);
        throw user.missing(file, request, name);
      },
    });
  };
}

/** The text of an ES module as CommonJS. */
function asCommonJs(text: string, file: string): string {
  const { transformSync } = createRequire(import.meta.url)('esbuild') as typeof Esbuild; // a dependency of this package
  const url = JSON.stringify(pathToFileURL(file).href);
  return transformSync(text, {
    format: 'cjs',
    platform: 'node',
    define: { 'import.meta.url': url },
  }).code;
}

/** The plugin that a file belongs to; none for the files of its OpenClaw, which may lie in its folder. */
function userOf(users: Offer['users'], file: string): SdkUser | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const user = users.get(folder);
    if (user !== undefined)
      return user.sdk.path !== undefined && file.startsWith(user.sdk.path + sep) ? undefined : user;
    if (dirname(folder) === folder) return undefined;
  }
}
