import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { installNode22, installOpenClaw } from '../../support/openclaw-install.js';
import { corpus } from '../installed-plugins/corpus.js';
import { installPlugin } from '../installed-plugins/install.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the installed openclaw; absent where it, or ngircd, is not there. */
    readonly openClawWithChannels: string | undefined;
  }
}

/** Installs the real package, and looks for ngircd. Without them the suite skips; in CI that is a failure. */
export default async function setup(project: TestProject): Promise<void> {
  try {
    execFileSync('ngircd', ['--version'], { stdio: 'ignore' });
    const openclaw = await installOpenClaw();
    for (const plugin of corpus) if (plugin.talks && plugin.release) await installPlugin(plugin);
    await installNode22();
    project.provide('openClawWithChannels', openclaw);
  } catch (error) {
    const line = `ngircd or OpenClaw is not there: ${String(error).split('\n', 1)[0]}`;
    if (process.env['CI'] === 'true') throw new Error(line, { cause: error });
    console.warn(`test:channels skips: ${line}`);
    project.provide('openClawWithChannels', undefined);
  }
}
