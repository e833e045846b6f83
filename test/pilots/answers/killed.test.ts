import { away, killed, reloaded, stoppedTwice } from './cuts.js';
import { agentNames, moreAgents } from './fixtures/agents.js';
import { answersSurvive } from './survives.js';

answersSurvive('kill -9', killed);
answersSurvive('kill -9', killed, moreAgents);
answersSurvive('two stops at two questions', stoppedTwice, [...agentNames, ...moreAgents]);
answersSurvive('a reload of its agent', reloaded('agent'));
answersSurvive('a reload of all extensions', reloaded('all'));
answersSurvive('a journal that is away', away);
