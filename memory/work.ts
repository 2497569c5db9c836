import type { StoredRequest } from '../contract/record/wire';
import type { Manifest, ManifestRequest } from '../contract/manifest';
import type { PolicyPlan, PolicyRequest } from '../contract/policies';
import type { RunLocalValues } from '../contract/run-local';
import type {
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ParseInputRequest,
  ParseInputResult,
  ParseOutputRequest,
  ParseOutputResult,
  StartInput,
} from '../contract/record/wire';
import type { ModelFacts, ToolFacts } from '../contract/manifest';

/** Where in the run a call stands, and how often it may be tried. */
export interface MemoryCall<Facts> {
  readonly workflowId: string;
  readonly address: string;
  readonly path: readonly string[];
  readonly facts: Facts;
  readonly values: RunLocalValues;
  /** What the run was started with. */
  readonly start: StartInput;
  /** Settles when somebody cancels the run. */
  readonly cancelled: Promise<void>;
  /** Lets virtual time pass before the call is made again. */
  wait(milliseconds: number): Promise<void>;
}

/** All that does I/O. What is thrown here is a call that a worker lost. */
export interface MemoryWork {
  prepare(request: ManifestRequest): Promise<Manifest>;
  callModel(request: StoredRequest, call: MemoryCall<ModelFacts>): Promise<CallModelResult>;
  callTool(input: CallToolInput, call: MemoryCall<ToolFacts>): Promise<CallToolResult>;
  parseInput(request: ParseInputRequest): Promise<ParseInputResult>;
  planPolicy(request: PolicyRequest): Promise<PolicyPlan>;
  parseOutput(request: ParseOutputRequest): Promise<ParseOutputResult>;
  /** A run ends. `told`: the addresses of the model calls whose messages it has. */
  ending?(workflowId: string, told: ReadonlySet<string>): void;
  /** Settles when all code that can run has run. In Node: a `setImmediate`. */
  settle(): Promise<void>;
}
