/** Every test bed has a task queue and therefore a Worker Deployment; a namespace takes 100 by default. */
export const roomForDeployments = { 'matching.maxDeployments': 1000 };
