import { request } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { memoryJournal } from 'sluice/host';
import { describe, expect, it } from 'vitest';
import { type Inspector, startInspector } from '../src/index.js';
import { ask, knowing, partsOf } from './ask.js';

/** The answer to a request as soon as it begins: its body is not read. */
function begun(inspector: Inspector, path: string, method = 'GET') {
  const { origin } = partsOf(inspector);
  const headers = { ...knowing(inspector), ...(method === 'POST' && { 'content-length': '9' }) };
  const asked = request(`${origin}${path}`, { method, headers });
  const status = new Promise<number>((resolve, reject) => {
    asked.once('response', ({ statusCode = 0 }) => resolve(statusCode));
    asked.on('error', reject);
  });
  if (method === 'POST') asked.flushHeaders();
  else asked.end();
  return { asked, status };
}

/** The things that one may do. @returns how it ends. */
const misdeeds = {
  'a page that opens event streams, and reads none': (inspector: Inspector) => {
    const { asked, status } = begun(inspector, '/api/events');
    status.catch(() => undefined);
    return () => asked.destroy();
  },
  'one that asks for lists, and reads none': (inspector: Inspector) => {
    const { asked, status } = begun(inspector, '/api/list');
    status.catch(() => undefined);
    return () => asked.destroy();
  },
  'one that sends no body': (inspector: Inspector) => {
    const { asked, status } = begun(inspector, '/api/stop', 'POST');
    status.catch(() => undefined);
    return () => asked.destroy();
  },
  'one that knows no token, and says nothing': (inspector: Inspector) => {
    const { port, hostname } = new URL(inspector.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    return () => socket.destroy();
  },
} as const;

describe('the law for all doors at the inspector (durability §8.9)', () => {
  it.each(Object.keys(misdeeds) as (keyof typeof misdeeds)[])(
    'holds beside %s: another page is answered, and hears events (durability §8.9)',
    async (misdeed) => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (times) => {
          await using inspector = await startInspector({ name: 'it', reader: memoryJournal() });
          const ends = Array.from({ length: times }, () => misdeeds[misdeed](inspector));
          const { status } = await ask(inspector, '/api/about', { headers: knowing(inspector) });
          expect([status, (await ask(inspector, '/')).status]).toEqual([200, 200]);
          const events = begun(inspector, '/api/events');
          expect(await events.status).toBe(200);
          events.asked.destroy();
          for (const end of ends) end();
        }),
        { numRuns: 3, examples: [[100]] },
      );
    },
  );
});
