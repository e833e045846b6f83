import { leaseLost, stopped } from './cuts.js';
import { moreAgents } from './fixtures/agents.js';
import { answersSurvive } from './survives.js';

answersSurvive('SIGTERM', stopped);
answersSurvive('SIGTERM', stopped, moreAgents);
answersSurvive('a lost lease', leaseLost);
