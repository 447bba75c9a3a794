"""QuestDB, through its HTTP interface."""
