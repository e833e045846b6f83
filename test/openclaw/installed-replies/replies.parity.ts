import { describe, expect, inject, test } from 'vitest';
import type { CampaignReport, ProgramReport } from './campaign-report.js';
import { divergences } from './divergences.js';

const campaign = inject('campaign');

describe.skipIf(campaign === undefined)('Beside the real subscription', () => {
  const found = (): CampaignReport => campaign as CampaignReport; // skipped without
  const fine = ({ failure }: ProgramReport): void => expect(failure).toBeUndefined();

  test('every generated stream calls the same callbacks, with the same, in the same order', () => {
    fine(found().generated);
    expect(found().generated.compared).toBeGreaterThanOrEqual(2_000);
    expect(found().generated.disordered).toBe(0);
  });

  test('each verbose level, reasoning mode, break, chunking and flush is met with each other', () => {
    expect(found().settings).toBe(3 * 3 * 2 * 4 * 3);
  });

  test('so does every stream that is out of order', () => {
    fine(found().unruly);
    expect(found().unruly.disordered).toBeGreaterThan(found().unruly.compared / 2);
  });

  test('so does every recorded run, heard by twelve hosts', () => {
    fine(found().recorded);
    expect(found().recorded.compared).toBeGreaterThan(50);
  });

  test('most streams need no divergence', () => {
    expect(found().generated.same).toBeGreaterThan(found().generated.compared / 4);
  });

  test.each(divergences.map(({ name }) => name))('the divergence %s is needed', (name) => {
    expect(found().uses[name]).toBeGreaterThan(0);
  });

  test('a recorded run, normalized, makes the real one hand each visible text over once', () => {
    const texts = found().texts.filter(({ hasToolInside }) => !hasToolInside);
    expect(texts.length).toBeGreaterThan(4);
    for (const { name, visible, handedOver, kept } of texts) {
      const said = visible.map((text) => text.trim()).filter((text) => text !== '');
      expect({ name, said: handedOver }).toEqual({ name, said });
      expect({ name, said: kept }).toEqual({ name, said });
    }
  });

  test('if a tool of the provider runs within a message, the real one says its text in pieces and then whole', () => {
    const texts = found().texts.filter(({ hasToolInside }) => hasToolInside);
    const names = texts.map(({ name }) => name).sort();
    expect(names).toEqual(['redacted-citations.jsonl #1', 'web-search.jsonl #1']);
    for (const { visible, handedOver } of texts) {
      const whole = handedOver.at(-1) ?? '';
      expect(whole.replaceAll('\n', ' ')).toBe(visible.join(' '));
      const pieces = handedOver.slice(0, -1).join('\n');
      expect(pieces).not.toBe('');
      expect(whole.startsWith(pieces)).toBe(true);
    }
  });
});
