#!/usr/bin/env node
import { Console } from 'node:console';
import process from 'node:process';
import { claudeAddition } from '@sluice/claude/internal';
import {
  defaultWidth,
  outputTo,
  paletteFor,
  runCommandLine,
  screenOutput,
  stopSignal,
} from '@sluice/cli';
import { openclawAddition } from '@sluice/openclaw/internal';
import { postgresJournals } from '@sluice/postgres/internal';
import { sluiceVersion } from '@sluice/sdk/extension';

// an extension or a plugin that prints by itself must not write into the output of a command, which a program may read
globalThis.console = new Console(process.stderr);

const stdout = outputTo(process.stdout);
const stderr = outputTo(process.stderr);
const canRedraw = process.stdout.isTTY === true && process.env['TERM'] !== 'dumb';
const screen = canRedraw
  ? new (await import('@sluice/sdk/channel')).TerminalScreen({
      write: (text) => stdout.write(text),
      size: () => ({ columns: process.stdout.columns, rows: process.stdout.rows }),
    })
  : undefined;
let interrupted = (): boolean => false;

const exitCode = await runCommandLine({
  args: process.argv.slice(2),
  stdin: process.stdin,
  stdout: screen === undefined ? stdout : screenOutput(stdout, screen),
  stderr: screen === undefined || !process.stderr.isTTY ? stderr : screenOutput(stderr, screen),
  cwd: process.cwd(),
  env: process.env,
  version: sluiceVersion(),
  additions: [claudeAddition, openclawAddition],
  journals: [postgresJournals],
  isTerminal: {
    stdin: process.stdin.isTTY === true,
    stdout: process.stdout.isTTY === true,
    stderr: process.stderr.isTTY === true,
  },
  screen,
  get width() {
    return Math.min(process.stdout.columns || defaultWidth, 100); // a person may resize it
  },
  palettes: {
    stdout: paletteFor(process.stdout, process.env),
    stderr: paletteFor(process.stderr, process.env),
  },
  stop: AbortSignal.any([stopSignal(process, () => interrupted()), stdout.gone]),
  onHangup: (take) => void process.on('SIGHUP', take),
  onInterrupt: (take) => {
    interrupted = take;
  },
});

await Promise.all([stdout.flush(), stderr.flush()]);
// an open stdin or a timer that an extension forgot must not keep a finished command alive
process.exit(exitCode);
