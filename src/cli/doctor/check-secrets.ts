import { placeOf } from '@sluice/host/internal';
import type { DeclaredChannel } from '../pipeline/channel-packages.js';
import type { LoadedConfig } from '../settings/config-file.js';
import type { ExtensionSetting } from '../settings/settings.js';
import { secretName } from '../shell/text.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('secrets');

/** The forms of secrets, each with the name of its kind. */
export const knownForms: readonly (readonly [kind: string, form: RegExp])[] = [
  ['a Slack token', /^xox[abeprs]-[\w-]{10,}$/],
  ['an Anthropic key', /^sk-ant-[\w-]{20,}$/],
  ['an OpenAI key', /^sk-[\w-]{32,}$/],
  ['a GitHub token', /^gh[opsur]_\w{30,}$/],
  ['a password', /^postgres(ql)?:\/\/[^/@:]*:[^/@]+@/],
  ['a private key', /^-----BEGIN [A-Z ]*PRIVATE KEY-----/],
];

const placeholder =
  /^(<.*>|\[.*\]|\$\{.*\}|x{3,}|\.{3}|your[-_ ].*|change[-_ ]?me|todo|token|secret|password)$/i;

/**
 * Finds secrets that are written in a config file, and secrets with a form that cannot be right. No finding holds a secret.
 *
 * @param extensions the extensions of the settings, those of the config first.
 * @param declared the channels that they declare: the secrets of a channel have a form of their own.
 */
export function checkSecrets(
  config: LoadedConfig,
  extensions: readonly ExtensionSetting[],
  declared: readonly DeclaredChannel[],
): Finding[] {
  const credentials = declared.flatMap(({ declaration }) => declaration.credentials ?? []);
  const forms = [...credentials.map(({ name, shape }) => [name, shape] as const), ...knownForms];
  const found = [...textsIn(config.written)].flatMap(({ path, key, text }) =>
    writtenOut(config.file, placeOf(path), key, text, forms),
  );
  for (const [file, mode] of config.exposed) {
    const what = `others may read this secret: its mode is ${mode}`;
    found.push(findings.warning(what, file, 'Run `chmod 600` on it.'));
  }
  const { extensions: filled, plugins, openclaw } = config;
  for (const { path, key, text } of textsIn({ extensions: filled, plugins, openclaw })) {
    const problem =
      (secretName.test(key) ? formProblem(text) : undefined) ??
      shapeProblem(path, text, extensions, declared);
    if (problem === undefined) continue;
    const what = `${placeOf(path)} cannot be right: ${problem}`;
    const hint = 'Copy it anew from its provider, without quotes or spaces around it.';
    found.push(findings.error(what, config.file, hint));
  }
  return found;
}

function writtenOut(
  file: string,
  place: string,
  key: string,
  text: string,
  forms: typeof knownForms,
): Finding[] {
  const form = forms.find(([, known]) => known.test(text))?.[0];
  if (text === '' || placeholder.test(text)) return [];
  if (form === undefined && !secretName.test(key)) return [];
  const what = `${place} holds ${form ?? 'a secret'}, written out`;
  const hint = 'Write { "env": "NAME" } there, and set NAME where the host is started.';
  return [findings.warning(what, file, hint)];
}

/** Says why a text cannot be a secret; `undefined` if it can. */
function formProblem(text: string): string | undefined {
  if (placeholder.test(text)) return 'it is a placeholder';
  if (text !== text.trim()) return 'there are spaces around it';
  if (/^(["'`]).*\1$/s.test(text)) return 'there are quotes around it';
  if (/^Bearer /i.test(text)) return 'it begins with "Bearer"';
  if (/[\r\n]/.test(text) && !text.startsWith('-----BEGIN')) return 'it has several lines';
  return undefined;
}

/** Says why a text cannot be a secret of its channel: the channel of the extension that has it, or of a name that leads to it. */
function shapeProblem(
  path: readonly PropertyKey[],
  text: string,
  extensions: readonly ExtensionSetting[],
  declared: readonly DeclaredChannel[],
): string | undefined {
  const [list, at] = path;
  const extension = list === 'extensions' ? extensions[Number(at)] : undefined;
  const key = String(path.at(-1)).toLowerCase();
  const wrong = declared
    .filter(
      ({ specifier, declaration }) =>
        specifier === extension?.specifier || path.includes(declaration.id),
    )
    .flatMap(({ declaration }) => declaration.credentials ?? [])
    .find(({ setting, shape }) => key.endsWith(setting.toLowerCase()) && !shape.test(text));
  return wrong === undefined ? undefined : `${wrong.name} is ${wrong.looksLike}`;
}

interface FoundText {
  readonly path: readonly PropertyKey[];
  readonly key: string;
  readonly text: string;
}

/** Yields every text of plain data, with the keys that lead to it. The data was checked: it is neither deep nor cyclic. */
function* textsIn(value: unknown, path: readonly PropertyKey[] = []): Generator<FoundText> {
  if (typeof value === 'string') yield { path, key: String(path.at(-1) ?? ''), text: value };
  if (typeof value !== 'object' || value === null) return;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain || isReference(value)) return;
  for (const [key, part] of Object.entries(value))
    yield* textsIn(part, [...path, Array.isArray(value) ? Number(key) : key]);
}

/** Returns whether a value names a secret, as it should. */
function isReference(value: object): boolean {
  const [only, ...others] = Object.keys(value);
  return others.length === 0 && (only === 'env' || only === 'secretFile');
}
