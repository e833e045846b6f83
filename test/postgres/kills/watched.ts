import { expect } from 'vitest';
import type { PostgresConnections } from '../../../src/postgres/index.js';

/** The database itself notes who writes: a host under a name of its connections, beside the host that has the part. */
const statements: readonly string[] = [
  'CREATE TABLE seen_hosts (host_id text PRIMARY KEY, name text)',
  'CREATE TABLE seen_sending (send_id text, name text)',
  'CREATE TABLE seen_wrong (what text, id text, state text, part int4, name text, owner text)',
  `CREATE FUNCTION see_host() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO seen_hosts VALUES (NEW.host_id, current_setting('application_name')) ON CONFLICT DO NOTHING;
    RETURN NULL; END $$`,
  'CREATE TRIGGER see_host AFTER INSERT ON sluice_hosts FOR EACH ROW EXECUTE FUNCTION see_host()',
  `CREATE FUNCTION see_write() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE writer text := current_setting('application_name');
    DECLARE owner text := (SELECT name FROM sluice_parts JOIN seen_hosts USING (host_id) WHERE part = coalesce(NEW.slot, 0) % (SELECT partitions FROM sluice_journal));
    BEGIN
    IF owner IS DISTINCT FROM writer THEN
      INSERT INTO seen_wrong VALUES (TG_TABLE_NAME, to_jsonb(NEW) ->> TG_ARGV[0], NEW.state, NEW.slot, writer, owner);
    END IF;
    IF NEW.state = 'sending' THEN INSERT INTO seen_sending VALUES (to_jsonb(NEW) ->> TG_ARGV[0], writer); END IF;
    RETURN NULL; END $$`,
  `CREATE TRIGGER see_write AFTER INSERT OR UPDATE ON sluice_sends
    FOR EACH ROW EXECUTE FUNCTION see_write('send_id')`,
  `CREATE TRIGGER see_write AFTER INSERT OR UPDATE ON sluice_updates
    FOR EACH ROW WHEN (NEW.state <> 'accepted') EXECUTE FUNCTION see_write('event_id')`,
];

/** Has a database watch the hosts that are to begin on it. */
export async function watched(admin: PostgresConnections) {
  for (const statement of statements) await admin.query(statement);
  return {
    /**
     * Checks that no host has written for a part of another one, and that each send came from a host that had the right to begin it.
     *
     * @param sends as they came for the first time.
     */
    check: async (
      sends: readonly { readonly sendId: string; readonly host: string }[],
    ): Promise<void> => {
      expect(await admin.query('SELECT * FROM seen_wrong')).toEqual([]);
      const begun = await admin.query('SELECT send_id, name FROM seen_sending');
      const rights = new Set(begun.map((row) => `${row['send_id']} by ${row['name']}`));
      const all = sends.map(({ sendId, host }) => `${sendId.replace('-final', '')} by ${host}`);
      expect(all.filter((one) => !rights.has(one))).toEqual([]);
      expect(all.length).toBeGreaterThan(0);
    },
  };
}
