import { request } from 'node:http';
import { join, resolve } from 'node:path';
import guard, { type DoorPlace, readDoor } from '../../extensions/guard/src/index.js';
import type { Extension } from '../../src/sdk/extension/index.js';
import { fakeChannel, startTestHost, type TestHost } from '../../src/testing/index.js';
import { temporaryFolder } from './temporary-folder.js';

/** Rules that refuse `rm -rf`, ask about `deploy`, and let only releasers answer about `release`. */
export const labPolicies = `
- id: no-rm
  family: agent.tool.calling
  match: { toolName: shell }
  deny when: "params.command.contains('rm -rf')"
  text: Nothing is removed here.
  expect:
    - { payload: { toolName: shell, params: { command: rm -rf / } }, is: denied }
- id: deploys
  family: agent.tool.calling
  match: { toolName: shell }
  ask when: "params.command.startsWith('deploy')"
  title: Deploy?
  expect:
    - { payload: { toolName: shell, params: { command: deploy } }, is: asked }
- id: releases
  family: agent.tool.calling
  match: { toolName: shell }
  ask when: "params.command.startsWith('release')"
  of: { role: releaser }
  timeoutMs: 60000
  expect:
    - { payload: { toolName: shell, params: { command: release } }, is: asked }
`;

/** The answer of the door. */
export interface DoorAnswer {
  readonly status: number;
  readonly body: string;
}

/** A request to the door; what is not said is as a client of this machine says it. */
export interface DoorRequest {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly bySocket?: boolean;
  readonly signal?: AbortSignal;
}

/** Asks a door. */
export function askDoor(door: DoorPlace, asked: DoorRequest = {}): Promise<DoorAnswer> {
  const { path = '/hook/claude/PreToolUse', method = 'POST', body = '', bySocket, signal } = asked;
  const { port, socketPath, token } = door;
  const headers = Object.entries({ authorization: `Bearer ${token}`, ...asked.headers });
  const place = bySocket === true ? { socketPath, host: 'localhost' } : { host: '127.0.0.1', port };
  return new Promise((settle, reject) => {
    const sent = request({
      ...place,
      ...{
        path,
        method,
        agent: false,
        headers: Object.fromEntries(headers.filter(([, value]) => value !== undefined)),
      },
      ...(signal !== undefined && { signal }),
    } as object);
    sent.on('error', reject).on('response', async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      settle({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString() });
    });
    sent.end(body);
  });
}

/** The input of a hook of Claude Code before a tool. */
export function preToolUse(command: string, more: object = {}): string {
  return JSON.stringify({
    ...{ session_id: 's1', cwd: '/tmp', hook_event_name: 'PreToolUse' },
    ...{ tool_name: 'Bash', tool_use_id: 't1', tool_input: { command } },
    ...more,
  });
}

/** The words of a refusal of Claude Code's hook; nothing if the call passes. */
export function refusalIn({ status, body }: DoorAnswer): string | undefined {
  if (status !== 200) throw new Error(`the door answers ${status}: ${body}`);
  const { hookSpecificOutput: said } = JSON.parse(body);
  return said?.permissionDecision === 'deny' ? said.permissionDecisionReason : undefined;
}

/** A guard in a test host, which asks in a fake channel. */
export interface GuardLab extends AsyncDisposable {
  readonly test: TestHost;
  readonly folder: string;
  readonly door: DoorPlace;
  ask(request?: DoorRequest): Promise<DoorAnswer>;
  /** Has Claude call a command. @returns the words of the refusal. */
  call(command: string, more?: object): Promise<string | undefined>;
}

/** Starts a guard with rules. */
export async function guardLab({
  policies = labPolicies,
  config = {},
  extensions = [],
  asks = true,
}: {
  readonly policies?: string;
  readonly config?: object;
  readonly extensions?: readonly Extension[];
  /** It knows whom to ask. */
  readonly asks?: boolean;
} = {}): Promise<GuardLab> {
  const folder = temporaryFolder({ 'policies.yaml': policies });
  const test = await startTestHost({
    extensions: [
      {
        extension: readingFrom(folder.path),
        config: {
          ...{ policies: ['policies.yaml'], port: 0 },
          ...(asks && { ask: { channel: 'fake', to: 'ops', of: { role: 'admin' } } }),
          ...config,
        },
      },
      ...extensions,
    ],
    grants: { guard: ['dispatch:*'] },
    channel: fakeChannel({ interactive: ['buttons'] }),
    channels: ['guard'],
  });
  const door = await readDoor(join(folder.path, 'guard'));
  const ask = (request?: DoorRequest) => askDoor(door, request);
  return {
    ...{ test, door, ask, folder: folder.path },
    call: async (command, more) => refusalIn(await ask({ body: preToolUse(command, more) })),
    [Symbol.asyncDispose]: async () => {
      await test[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** The guard, whose relative paths are read from a folder. */
function readingFrom(folder: string): Extension {
  const resolvePath = (path: string): string => resolve(folder, path);
  return {
    ...guard,
    setup: (api, config) =>
      guard.setup(
        Object.create(api, { resolvePath: { value: resolvePath } }),
        config as never, // as the schema of the guard has read it
      ),
  };
}
