/** A release of OpenClaw whose gateway the suite runs. */
export interface GatewayRelease {
  /** As npm knows it: a version, or a tag. */
  readonly version: string;
  /** The Node that it needs. */
  readonly node: string;
  readonly protocol: 3 | 4;
}

/** The releases that are tried: docs/agents.md names them. */
export const pinned: readonly GatewayRelease[] = [
  { version: '2026.3.13', node: '22.23.3', protocol: 3 },
  { version: '2026.9.6', node: '24.21.0', protocol: 4 },
];

/** The newest of npm, which is taken to be like the last that is pinned. */
export const newest: GatewayRelease = {
  ...{ version: 'latest', node: '24.21.0', protocol: 4 },
};

/** The release of a project of the suite. */
export function releaseOf(name: string): GatewayRelease {
  const found = [...pinned, newest].find(({ version }) => version === name);
  if (found === undefined) throw new Error(`there is no release ${name}`);
  return found;
}
