import { digestOf } from '@sluice/journal/internal';
import { knownForms } from '../doctor/check-secrets.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Settings } from '../settings/settings.js';

/** Names under which a secret may stand. It may be a short one, which its digest would give away. */
const mayBeSecret = /token|secret|pass|pin|key|credential|auth|cookie|code/i;

/**
 * Makes the set-up of a host that the others are told: a digest of each part of its config, and the versions of its extensions,
 * which a reload may change. No secret goes into a digest.
 */
export function announced(
  { config, channels, audit, strict, setConfig: set }: Settings,
  { agent }: { readonly agent?: string },
  { extensions, plugins }: Pick<Pipeline, 'extensions' | 'plugins'>,
  sluice: string,
): () => Readonly<Record<string, string>> {
  const given = { agent, channels, audit, strict, set: set.map((one) => [one.path, one.value]) };
  const digests: Record<string, string> = {};
  for (const [name, part] of Object.entries({ ...Object(config?.written), given }))
    digests[`config ${name}`] = digestOf(redacted(part, mayBeSecret.test(name))).slice(0, 16);
  return () => {
    const about: Record<string, string> = { sluice, ...digests };
    for (const { extensionId, manifest } of extensions.live)
      about[`extension ${extensionId}`] = manifest.version ?? 'no version';
    for (const { pluginId, version, status } of plugins)
      if (status === 'loaded') about[`plugin ${pluginId}`] = version ?? 'no version';
    return about;
  };
}

/** Leaves out all that may be a secret, an address with its path, and the order of keys. */
function redacted(value: unknown, isSecret: boolean): unknown {
  if (['string', 'number', 'bigint'].includes(typeof value)) {
    const text = String(value);
    const isForm = text.includes('://') || knownForms.some(([, form]) => form.test(text));
    return isSecret || isForm ? '[secret]' : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const isNamed = value.length === 2 && mayBeSecret.test(String(value[0]));
    return value.map((one) => redacted(one, isSecret || isNamed));
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return 'an instance';
  return redacted(
    Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)),
    isSecret,
  );
}
