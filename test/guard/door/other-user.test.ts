import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardLab } from '../../support/guard-lab.js';
import { asUser } from '../../support/other-user.js';

const probe = `
const { readFileSync } = require('node:fs');
const { connect } = require('node:net');
const { request } = require('node:http');
const [folder, port] = process.argv.slice(1);
const tried = {};
for (const name of ['token', 'door.json', 'away.json'])
  try { readFileSync(folder + '/' + name); tried[name] = 'read'; } catch (error) { tried[name] = error.code; }
connect(folder + '/door.sock')
  .on('connect', () => ask('connected'))
  .on('error', (error) => ask(error.code));
function ask(socket) {
  request({ host: '127.0.0.1', port, method: 'POST', path: '/hook/claude/PreToolUse' }, (response) =>
    console.log(JSON.stringify({ ...tried, socket, status: response.statusCode }))).end('{}');
}`;

describe.skipIf(asUser === undefined)('another user of the machine', () => {
  it('reads no token, comes to no socket, and gets nothing at the port', async () => {
    await using lab = await guardLab();
    chmodSync(lab.folder, 0o755); // the folder of the project is open to all
    const found = await new Promise<string>((settle, reject) => {
      const args = ['-e', probe, join(lab.folder, 'guard'), String(lab.door.port)];
      execFile(process.execPath, args, { ...asUser, cwd: '/', env: {} }, (error, out) =>
        error === null ? settle(out) : reject(error),
      );
    });
    const denied = 'EACCES';
    expect(JSON.parse(found)).toEqual({
      ...{ token: denied, 'door.json': denied, 'away.json': denied, socket: denied, status: 401 },
    });
  });
});
