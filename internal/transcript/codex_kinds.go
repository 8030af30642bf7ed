package transcript

// codexItems are the items of the conversation, codexEvents the events beside them, and codexDone the items that an
// event tells as done, by who speaks in them.
//
//nolint:gochecknoglobals // tables
var (
	codexItems = records{
		"message": byAnybody, "agent_message": byAgent, "function_call": byAgent, "custom_tool_call": byAgent,
		"local_shell_call": byAgent,
		"web_search_call":  byAgent, "tool_search_call": byAgent, "image_generation_call": byAgent,
		"function_call_output":    byAgent,
		"custom_tool_call_output": byAgent, "reasoning": byProgram, "additional_tools": byProgram,
		"tool_search_output": byProgram,
		"compaction":         byProgram, "compaction_summary": byProgram, "context_compaction": byProgram,
		"ghost_snapshot": byProgram, "other": byProgram,
	}
	codexEvents = records{
		"user_message": byPerson, "patch_apply_end": byAgent, "exec_command_end": byAgent, "mcp_tool_call_end": byAgent,
		"item_completed": byAnybody,
		"token_count":    aboutSession, "thread_name_updated": aboutSession, "task_started": aboutSession,
		"turn_started":  aboutSession,
		"task_complete": aboutSession, "turn_complete": aboutSession, "turn_aborted": aboutSession,
		"agent_message": byProgram, "agent_reasoning": byProgram, "agent_reasoning_raw_content": byProgram,
		"agent_reasoning_section_break": byProgram,
		"thread_rolled_back":            byPerson, "thread_settings_applied": byProgram, "context_compacted": byProgram,
		"web_search_begin": byProgram,
		"web_search_end":   byProgram, "exec_command_begin": byProgram, "patch_apply_begin": byProgram,
		"mcp_tool_call_begin":  byProgram,
		"view_image_tool_call": byProgram, "plan_update": byProgram, "entered_review_mode": byProgram,
		"exited_review_mode": byProgram,
		"error":              byProgram, "warning": byProgram, "stream_error": byProgram, "turn_diff": byProgram,
		"session_configured":   byProgram,
		"image_generation_end": byProgram, "undo_started": byProgram, "undo_completed": byProgram,
		"background_event": byProgram,
		"item_started":     byProgram, "deprecation_notice": byProgram, "dynamic_tool_call_request": byProgram,
		"dynamic_tool_call_response": byProgram,
		"guardian_assessment":        byProgram, "hook_started": byProgram, "hook_completed": byProgram, "model_reroute": byProgram,
		"collab_agent_spawn_begin": byProgram, "collab_agent_spawn_end": byProgram,
		"collab_agent_interaction_begin": byProgram,
		"collab_agent_interaction_end":   byProgram, "collab_waiting_begin": byProgram, "collab_waiting_end": byProgram,
		"collab_close_begin": byProgram, "collab_close_end": byProgram, "collab_resume_begin": byProgram,
		"collab_resume_end":  byProgram,
		"sub_agent_activity": byProgram, "thread_goal_updated": byProgram,
	}
	codexDone = records{
		"UserMessage": byPerson, "CommandExecution": byAgent, "FileChange": byAgent, "McpToolCall": byAgent,
		"CollabAgentToolCall": byAgent,
		"AgentMessage":        byProgram, "Plan": byProgram, "Reasoning": byProgram, "SubAgentActivity": byProgram,
		"WebSearch": byProgram,
		"ImageView": byProgram, "ImageGeneration": byProgram, "EnteredReviewMode": byProgram, "ExitedReviewMode": byProgram,
		"ContextCompaction": byProgram,
		"HookPrompt":        byProgram, "DynamicToolCall": byProgram, "Sleep": byProgram, "Extension": byProgram,
	}
)
