import type { TestProject } from 'vitest/node';
import { installNode22, installOpenClaw } from '../../support/openclaw-install.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** What the gateway is run with; absent where it could not be installed. */
    readonly gatewayPrograms: { readonly node: string; readonly openClaw: string } | undefined;
  }
}

/** Installs the real gateway, and the Node that it needs. Without them the suite skips; in CI that is a failure. */
export default async function setup(project: TestProject): Promise<void> {
  try {
    const node = await installNode22();
    project.provide('gatewayPrograms', { node, openClaw: await installOpenClaw() });
  } catch (error) {
    const line = `the OpenClaw gateway cannot be installed: ${String(error).split('\n', 1)[0]}`;
    if (process.env['CI'] === 'true') throw new Error(line, { cause: error });
    console.warn(`test:gateway skips: ${line}`);
    project.provide('gatewayPrograms', undefined);
  }
}
