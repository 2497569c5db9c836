import type { StoredRequest } from '../../contract/record/wire';
import type { Manifest, ManifestRequest, ModelFacts, ToolFacts } from '../../contract/manifest';
import type { PolicyPlan, PolicyRequest } from '../../contract/policies';
import type { RunLocalValues } from '../../contract/run-local';
import type {
  CallModelResult,
  CallToolInput,
  CallToolResult,
  ParseInputRequest,
  ParseInputResult,
  ParseOutputRequest,
  ParseOutputResult,
  StartInput,
} from '../../contract/record/wire';

export interface MemoryCall<Facts> {
  readonly workflowId: string;
  readonly address: string;
  readonly path: readonly string[];
  readonly facts: Facts;
  readonly values: RunLocalValues;
  readonly start: StartInput;
  readonly cancelled: Promise<void>;
  /** Lets virtual time pass before another attempt. */
  wait(milliseconds: number): Promise<void>;
}

/** All I/O. An error from a call is a lost call. */
export interface MemoryWork {
  prepare(request: ManifestRequest): Promise<Manifest>;
  callModel(request: StoredRequest, call: MemoryCall<ModelFacts>): Promise<CallModelResult>;
  callTool(input: CallToolInput, call: MemoryCall<ToolFacts>): Promise<CallToolResult>;
  parseInput(request: ParseInputRequest): Promise<ParseInputResult>;
  planPolicy(request: PolicyRequest): Promise<PolicyPlan>;
  parseOutput(request: ParseOutputRequest): Promise<ParseOutputResult>;
  /** A run ends. `told`: the addresses of the model calls with messages in the run. */
  ending?(workflowId: string, told: ReadonlySet<string>): void;
  /** Settles when all code has run: in Node a `setImmediate`. */
  settle(): Promise<void>;
}
