/** In place of a user's workflows, where a worker has none. */
export {};
