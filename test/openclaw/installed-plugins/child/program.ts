import { readFileSync, writeFileSync } from 'node:fs';
import { openPipeline } from '../../../../src/cli/pipeline/pipeline.js';
import { readSettings } from '../../../../src/cli/settings/settings.js';
import { isSluiceError, type Logger, type Outcome } from '../../../../src/kernel/internal.js';
import type { LegacyPlugin } from '../../../../src/openclaw/index.js';
import { openclawAddition } from '../../../../src/openclaw/internal.js';
import { HandlerWatch } from '../../../../src/sdk/extension/index.js';
import { callCommands } from './call-commands.js';
import { callHooks } from './call-hooks.js';
import { callCli, callMethods } from './call-outside.js';
import { callRoutes } from './call-routes.js';
import { callTools } from './call-tools.js';
import type { Found, TrialJob } from './found.js';
import { standIn } from './stand-in.js';
import { Trial } from './trial.js';
import { TrialHost } from './trial-host.js';

// Loads one plugin as `sluice run` does, calls all that it registers, writes down what became of it, and ends.

const [, , jobFile = ''] = process.argv;
const job = JSON.parse(readFileSync(jobFile, 'utf8')) as TrialJob; // written by the suite
const log = (message: string): void => void process.stderr.write(`${message}\n`);
const complaints: string[] = [];
const complain = (message: string): void => {
  log(message);
  // the first is told as refused, and the second is a measure of this machine
  if (!/ is not supported\. | blocked everything for /.test(message)) complaints.push(message);
};
const logger: Logger = { debug: () => {}, info: log, warn: complain, error: complain };
const outcomes: Outcome[] = [];

const server = await standIn(job.answers);
Object.assign(process.env, { TRIAL_SERVER: server.place, TRIAL_OUTSIDE: job.outside.join(' ') }); // read by loopback.mjs
writeFileSync(
  job.config,
  readFileSync(job.config, 'utf8')
    .replaceAll('@SERVER@', server.place)
    .replaceAll('@HOME@', job.folder),
);
const stop = new AbortController().signal;
const additions = [openclawAddition];
const shell = { cwd: job.folder, env: {}, keepSecrets: () => {}, stop, additions, journals: [] };
const settings = await readSettings({ config: job.config }, shell);
const watch = new HandlerWatch({ logger });
const pipeline = await openPipeline(settings, logger, {
  watch,
  trace: true,
  tap: { outcome: (outcome) => void outcomes.push(outcome) },
});
const plugin = pipeline.plugins[0] as LegacyPlugin | undefined; // the addition loads plugins of OpenClaw alone
const error = plugin?.error ?? pipeline.errors[0];
const trial = new Trial(job, plugin, complaints);
trial.answered({ SERVER: server.place, HOME: job.folder });
if (plugin !== undefined) {
  const host = new TrialHost(pipeline.kernel, plugin, logger);
  await trial.services(plugin, () => host.start());
  await callHooks(trial, plugin, job.hooks, outcomes);
  await callCommands(trial, plugin, host);
  await callTools(trial, host, outcomes);
  await callRoutes(trial, plugin, host.host, job);
  await callMethods(trial, plugin);
  await callCli(trial, plugin);
  trial.channels(plugin);
  await host.stop();
}
const { from, version } = plugin?.sdk ?? {};
const found: Found = {
  loads:
    error === undefined
      ? 'yes'
      : trial.plain(isSluiceError(error) ? `${error.code}: ${error.message}` : error),
  ...(from !== undefined && { sdk: from === 'own' ? 'own' : `openclaw@${version}` }),
  calls: trial.calls,
  refused: [...trial.refused].toSorted(),
};
writeFileSync(job.out, JSON.stringify(found));
process.exit(0); // a plugin may hold its process for ever
