#!/usr/bin/env node
import process from 'node:process';
import { create } from './create.js';

process.exitCode = create(process.argv.slice(2), {
  cwd: process.cwd(),
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
