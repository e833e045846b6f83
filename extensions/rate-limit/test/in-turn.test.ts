import { describe, expect, it } from 'vitest';
import { inTurn } from '../src/in-turn.js';

describe('turns', () => {
  it('do work of one key in order, also after work that has failed, and work of another key beside it', async () => {
    const turns = inTurn();
    const did: string[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const first = turns('a', async () => {
      await gate;
      did.push('first');
      throw new Error('first');
    });
    const second = turns('a', async () => did.push('second'));
    await turns('b', async () => did.push('other'));
    expect(did).toEqual(['other']);
    open();
    await expect(first).rejects.toThrow('first');
    await second;
    expect(did).toEqual(['other', 'first', 'second']);
  });
});
