import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import type { CampaignReport } from './campaign-report.js';
import { subscriptionChunk } from './subscription-chunk.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** What the campaign found out; absent where the package could not be installed. */
    readonly campaign: CampaignReport | undefined;
  }
}

/** Found the same programs in every run, unless told otherwise: a run that fails can be repeated. */
const { REPLY_SEED: seed = '20260313', REPLY_RUNS: runs = '2500' } = process.env;

/**
 * Runs the campaign in a process of its own, with a home of its own: the real package leaves handles open, and
 * writes where it thinks it lives. Without the package the suite skips; in CI that is a failure.
 */
export default async function setup(project: TestProject): Promise<void> {
  const { chunk, absent } = await subscriptionChunk();
  if (absent !== undefined) {
    if (process.env['CI'] === 'true') throw new Error(absent);
    console.warn(`test:callbacks skips: ${absent}`);
    project.provide('campaign', undefined);
    return;
  }
  console.log(`test:callbacks compares ${runs} generated streams, seed ${seed}`);
  const home = mkdtempSync(join(tmpdir(), 'sluice-callbacks-'));
  try {
    const report = join(home, 'report.json');
    const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
    const imports = ['--import', 'tsx', '--import', here('register-hooks.mjs')];
    await promisify(execFile)(process.execPath, [...imports, here('campaign.ts'), report], {
      env: {
        PATH: process.env['PATH'], // nothing else of ours reaches the package
        HOME: home,
        OPENCLAW_STATE_DIR: join(home, 'state'),
        OPENCLAW_CHUNK: chunk,
        REPLY_SEED: seed,
        REPLY_RUNS: runs,
      },
      maxBuffer: 64 * 1024 * 1024,
    });
    project.provide('campaign', JSON.parse(readFileSync(report, 'utf8')) as CampaignReport);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
