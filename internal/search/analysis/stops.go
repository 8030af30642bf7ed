package analysis

// isStop reports whether a lower-cased word is a function word of English: it is ranked like
// any word, but a pair of neighbours or a topic made of such words says nothing.
func isStop(word string) bool {
	switch word {
	case "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are",
		"as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but",
		"by", "can", "could", "did", "do", "does", "doing", "don", "down", "during", "each", "few",
		"for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "hers",
		"herself", "him", "himself", "his", "how", "i", "if", "in", "into", "is", "it", "its",
		"itself", "just", "let", "ll", "me", "more", "most", "my", "myself", "no", "nor", "not",
		"now", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out",
		"over", "own", "re", "s", "same", "she", "should", "so", "some", "such", "t", "than",
		"that", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they",
		"this", "those", "through", "to", "too", "under", "until", "up", "ve", "very", "was", "we",
		"were", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with",
		"would", "you", "your", "yours", "yourself", "yourselves":
		return true
	}
	return false
}
