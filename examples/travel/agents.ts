import { agentTool, agentsFor } from 'holdfast/workflow';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

const seats = defineAgent({
  name: 'seats',
  description: 'Books a seat on a train.',
  instructions: 'Choose a seat on the train that you are told, and say which one it is.',
  model: 'default',
  tools: ['chooseSeat'],
});

const trains = defineAgent({
  name: 'trains',
  description: 'Plans a journey by train, seats included.',
  instructions: 'Find a train, have a seat booked on it, and say both.',
  model: 'default',
  tools: ['findTrain', agentTool(seats)],
});

/** The question which seat it is to be comes from three levels below, and is one of this run. */
export const travel = defineAgent({
  name: 'travel',
  description: 'Plans journeys.',
  instructions: 'Plan the journey that the customer wants.',
  model: 'default',
  tools: [agentTool(trains)],
});
