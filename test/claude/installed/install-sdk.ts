import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { sdkPackage, sdkVersion } from '../../../src/claude/agent/claude-sdk.js';
import { installOnce, newestVersion, npm } from '../../support/package-cache.js';

const name = sdkPackage;

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder whose `node_modules` holds the SDK; empty if it could not be installed. */
    readonly sdkFolder: string;
  }
}

/** The version of the suite, or npm's newest if `CLAUDE_SDK` is `newest`. */
async function wantedVersion(): Promise<string> {
  if (process.env['CLAUDE_SDK'] !== 'newest') return sdkVersion;
  const version = await newestVersion(name);
  console.log(`${name}: npm's newest is ${version}, the suite's own ${sdkVersion}`);
  return version;
}

/**
 * Installs the SDK in a cache outside of the repository, once per machine.
 *
 * @returns the folder whose `node_modules` holds it. Rejects with npm's own words if it cannot be installed.
 */
export async function installSdk(): Promise<string> {
  const version = await wantedVersion();
  const whole = ['--no-save', '--ignore-scripts', '--include=optional'];
  return installOnce(
    `claude-agent-sdk-${version}`,
    (staging) => npm(['install', ...whole, '--prefix', staging, `${name}@${version}`], staging),
    hasProgram,
  );
}

/** Tells the tests where the SDK is. */
export default async function setup(project: TestProject): Promise<void> {
  try {
    project.provide('sdkFolder', await installSdk());
  } catch (error) {
    const line = `${name} could not be installed: ${String(error).split('\n')[0]}`;
    const isWanted = process.env['CI'] === 'true' || process.env['CLAUDE_SDK'] === 'newest';
    if (isWanted) throw new Error(line, { cause: error }); // never skipped there
    console.warn(`test:claude skips: ${line}`);
    project.provide('sdkFolder', '');
  }
}

/** The SDK's program comes as the one package that fits this platform. */
function hasProgram(folder: string): boolean {
  if (!existsSync(join(folder, 'node_modules', name, 'sdk.mjs'))) return false;
  const packages = readdirSync(join(folder, 'node_modules', dirname(name)));
  return packages.some((one) => one.startsWith(`${basename(name)}-${process.platform}-`));
}
