#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { runServer } from './run-server.js';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort(name);
  });

/** A reader that goes away is no reason to stop serving. */
const writeTo = (stream: NodeJS.WriteStream): ((line: string) => void) => {
  stream.on('error', () => undefined);
  return (line) => void stream.write(`${line}\n`);
};

const manifest = new URL('../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }; // our own file

process.exitCode = await runServer({
  args: process.argv.slice(2),
  env: process.env,
  version,
  stdout: writeTo(process.stdout),
  stderr: writeTo(process.stderr),
  stop: stop.signal,
});
