import { expect, it } from 'vitest';
import { pluginRoutesAt } from '../../../../src/openclaw/plugin/http/route-match.js';

it('asks for the token if one of the routes of a path does, whichever plugins they are of (extensions-that-act §9.9)', () => {
  const route = { path: '/hook', match: 'exact', handler: () => undefined } as const;
  const open = { ...route, auth: 'plugin' } as const;
  const guarded = { ...route, auth: 'gateway' } as const;
  expect(pluginRoutesAt([open], '/hook').needsToken).toBe(false);
  expect(pluginRoutesAt([open, guarded], '/hook')).toEqual({
    routes: [open, guarded],
    needsToken: true,
  });
});
