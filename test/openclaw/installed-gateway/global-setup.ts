import type { TestProject } from 'vitest/node';
import { installNode, installOpenClaw } from '../../support/openclaw-install.js';
import { newestVersion } from '../../support/package-cache.js';
import { type GatewayRelease, newest, releaseOf } from './releases.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The release, and the programs that its gateway is run with; absent where it could not be installed. */
    readonly gateway: (GatewayRelease & GatewayPrograms) | undefined;
  }
}

/** The programs of a gateway. */
export interface GatewayPrograms {
  readonly nodeProgram: string;
  /** The folder of the installed package. */
  readonly openClaw: string;
}

/** Installs the gateway of a release, and the Node that it needs. Without them the suite skips; in CI that is a failure. */
export default async function setup(project: TestProject): Promise<void> {
  const release = releaseOf(project.name);
  try {
    const nodeProgram = await installNode(release.node);
    const isNewest = release.version === newest.version;
    const version = isNewest ? await newestVersion('openclaw') : release.version;
    if (isNewest) console.log(`the newest OpenClaw is ${version}`);
    const openClaw = await installOpenClaw(version);
    project.provide('gateway', { ...release, version, nodeProgram, openClaw });
  } catch (error) {
    const line = `the gateway of OpenClaw ${release.version} cannot be installed: ${String(error).split('\n', 1)[0]}`;
    if (process.env['CI'] === 'true') throw new Error(line, { cause: error });
    console.warn(`test:gateway skips: ${line}`);
    project.provide('gateway', undefined);
  }
}
