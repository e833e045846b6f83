import type { Config } from './config.js';

/** The ownership service: where it is, and how it is asked. */
export interface Service {
  /** Its URL, without a slash at the end. */
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token?: string;
  /** Milliseconds that it may take to say its verdict. */
  readonly timeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultUrl = 'http://slack-forwarder:8750';

/**
 * Finds the address of the service in the configuration, else in the environment (`SLACK_FORWARDER_URL`,
 * `SLUICE_OWNERSHIP_TOKEN`).
 *
 * @throws Error that names the setting, and never what a token is.
 */
export function serviceOf(
  { forwarderUrl, timeoutMs, ...config }: Config,
  env: Environment,
): Service {
  const url = forwarderUrl ?? (env['SLACK_FORWARDER_URL'] || defaultUrl);
  const source = forwarderUrl === undefined ? 'SLACK_FORWARDER_URL' : 'config.forwarderUrl';
  const token = config.token ?? env['SLUICE_OWNERSHIP_TOKEN'];
  if (token !== undefined && !/^[\x21-\x7e]*$/.test(token))
    throw new Error('SLUICE_OWNERSHIP_TOKEN must be one word of plain characters');
  return { url: checkedUrl(url, source), timeoutMs, ...(token && { token }) };
}

function checkedUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(`${source} must be an http or https URL`);
  if (url.username !== '' || url.password !== '')
    throw new Error(`${source} must hold no password; use config.token or SLUICE_OWNERSHIP_TOKEN`);
  if (url.search !== '' || url.hash !== '')
    throw new Error(`${source} must end with its path: no "?" and no "#"`);
  return text.replace(/\/$/, '');
}
