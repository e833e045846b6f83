import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { legacyHookNames } from '../../../src/openclaw/index.js';
import { inferProfile } from '../../../src/openclaw/profiles/infer-profile.js';

const later = 'api.on("before_agent_reply", () => undefined)';
const both = 'api.on("message_sending", () => undefined)';

describe('the profile of a plugin (event-pipeline §17.27)', () => {
  it.each([
    ['2026.9', 'what it was built with', { builtWith: '2026.9.2', openclaw: '2026.3.13' }],
    ['2026.3', 'what it was built with', { builtWith: '^2026.3.2', openclaw: '2026.9.6' }],
    ['2026.9', 'the OpenClaw that runs it', { openclaw: '2026.9.6' }],
    ['2026.9', 'the OpenClaw that runs it', { openclaw: '2026.9.6', asksFor: '>=2026.3.2' }],
    ['2026.3', 'the OpenClaw that runs it', { openclaw: '2026.3.13' }],
    ['2026.9', 'a later version that it asks for', { openclaw: '2026.3.13', asksFor: '2026.10.1' }],
    ['2026.9', 'the version that it asks for', { asksFor: '>=2026.9.0' }],
    ['2026.3', 'nothing', {}],
  ])('is %s by %s: %j', (profile, _what, signs) => {
    expect(inferProfile({ ...signs, entry: () => both })).toEqual({ profile });
  });

  it('is a guess from a hook that one release alone has, and says which', () => {
    const guess = { profile: '2026.9', guessedFrom: 'hook "before_agent_reply"' };
    expect(inferProfile({ entry: () => later })).toEqual(guess);
    expect(inferProfile({ asksFor: '>=2026.3.2', entry: () => later })).toEqual(guess);
    expect(inferProfile({ openclaw: '2026.3.13', entry: () => later })).toEqual({
      profile: '2026.3',
    });
  });

  it('has each hook that the entry registers, if one profile has all of them', () => {
    const profiles = fc.constantFrom('2026.3' as const, '2026.9' as const);
    const drawn = profiles.chain((profile) =>
      fc.subarray([...legacyHookNames[profile]] as string[]).map((hooks) => ({ profile, hooks })),
    );
    fc.assert(
      fc.property(drawn, fc.constantFrom('"', "'", '`'), ({ hooks }, quote) => {
        const text = hooks.map((hook) => `api.on(\n  ${quote}${hook}${quote}, f);`).join('\n');
        const { profile } = inferProfile({ entry: () => text });
        const has = (name: '2026.3' | '2026.9') =>
          hooks.every((hook) => (legacyHookNames[name] as readonly string[]).includes(hook));
        expect(has(profile)).toBe(has('2026.3') || has('2026.9'));
      }),
    );
  });
});
