import { defineConfig } from 'sluice/host';

const byRole = { owner: false, staff: { usd: 10 } };
const config = { perPrincipal: { usd: 2 }, byRole, total: { usd: 50 }, timeZone: 'Europe/Berlin' };

export default defineConfig({ extensions: [{ path: 'sluice-budget', config }] });
